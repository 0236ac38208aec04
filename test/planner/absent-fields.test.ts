/**
 * An absent field asks for nothing on a living cluster: for every field of the schema, a cluster that lives with another
 * value than the default, and is replaced without it. Whatever a new release of the schema adds has to be listed here.
 */
import { describe, expect, it, test } from 'vitest';
import { clusterFacts } from '../../src/activities/observe/observe.ts';
import { customResourceDefinitions } from '../../src/api/schemas/crd.ts';
import { ANNOTATION_MADE_FROM, ANNOTATION_RENDERED, API_VERSION } from '../../src/api/names.ts';
import {
  effectiveCluster,
  KEPT_FIELDS,
  keptFields,
  REMOVED_FIELDS,
} from '../../src/api/derived/settings-in-force.ts';
import type { StructuralSchema } from '../../src/api/schemas/structural.schema.ts';
import type { EtcdCluster, EtcdClusterSpec, EtcdClusterStatus } from '../../src/api/schemas/types.ts';
import { certificates } from '../../src/objects/certificate.ts';
import { memberClaim } from '../../src/objects/claim.ts';
import { firstDrift } from '../../src/objects/drift.ts';
import type { ManifestObject } from '../../src/objects/manifest.ts';
import { memberPod } from '../../src/objects/pod.ts';
import { clientService, peerService } from '../../src/objects/services.ts';
import { DEFAULT_VERSION } from '../../src/api/versions/table.ts';
import type { Decision } from '../../src/planner/model/decision.ts';
import type { ObjectFacts, Observation } from '../../src/planner/model/observation.ts';
import { plan } from '../../src/planner/plan.ts';
import { observedMembers } from '../../src/planner/report/members.ts';
import { statusOf } from '../../src/planner/report/status.ts';
import {
  aClaim,
  aPod,
  aProbe,
  aRunningCluster,
  aRunningStatus,
  NAME,
  NAMESPACE,
  namesOf,
  NOW,
  OURS,
  TOKEN,
  UID,
  stampsIn,
} from '../worlds/builders.ts';
import { situationOf } from '../../src/planner/situation.ts';

const RUNS = '3.5.35';

/** No field of it has its default. */
const WRITTEN: EtcdClusterSpec = {
  size: 5,
  version: RUNS,
  hibernated: false,
  repository: 'registry.example.com/mirror/etcd',
  profile: 'Kubernetes',
  pod: {
    topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' }],
    priorityClassName: 'system-cluster-critical',
    imagePullSecrets: [{ name: 'mirror' }],
    serviceAccountName: 'etcd',
    terminationGracePeriodSeconds: 90,
  },
  storage: {
    volumeClaimTemplate: {
      metadata: { labels: { tier: 'gold' } },
      spec: { storageClassName: 'fast', resources: { requests: { storage: '40Gi' } } },
    },
    retain: 'Retain',
    retainDeadMemberFor: '48h',
  },
  etcd: {
    quotaBackendBytes: '4Gi',
    autoCompaction: { mode: 'revision', retention: '5000' },
    snapshotCount: 20_000,
    heartbeatIntervalMs: 250,
    electionTimeoutMs: 5_000,
    logLevel: 'warn',
    maxRequestBytes: '3Mi',
  },
  upgrade: {
    strategy: 'Supervised',
    soakSeconds: 30,
    snapshotBefore: 'Required',
    allowIntermediateVersions: true,
    rollbackOnFailure: false,
  },
  repair: { replaceAfterSeconds: 60, maxReplacementsPerHour: 9, corruption: 'Replace' },
  maintenance: { defragment: { schedule: '@daily' }, compareDataEvery: '12h' },
  recovery: { totalLoss: 'RestoreLatestBackup' },
  service: {
    type: 'LoadBalancer',
    annotations: { internal: 'yes' },
    labels: { team: 'payments' },
    trafficDistribution: 'PreferClose',
  },
};

const CLAIM: EtcdClusterSpec['pod'] = {
  persistentVolumeClaimSpec: { storageClassName: 'fast', resources: { requests: { storage: '40Gi' } } },
};
const issuerRef = { name: 'ca', kind: 'ClusterIssuer', group: 'issuers.example.com' };

/** For each field a specification that has it. */
function written(field: string): EtcdClusterSpec {
  const { storage: _, ...others } = WRITTEN;
  if (field === 'storage.emptyDir') return { ...others, storage: { emptyDir: { sizeLimit: '1Gi' } } };
  if (field === 'pod.persistentVolumeClaimSpec') return { ...others, pod: { ...others.pod, ...CLAIM } };
  if (field === 'hibernated') return { ...WRITTEN, hibernated: true };
  // Members of another domain are strangers, and then little is asked for at all.
  if (field === 'pod.ClusterDomain')
    return { ...WRITTEN, pod: { ...WRITTEN.pod, ClusterDomain: 'corp.internal' } };
  if (field.startsWith('TLS.')) return { ...WRITTEN, TLS: { certManager: { issuerRef } } };
  return WRITTEN;
}

function without<T extends object>(tree: T, field: string): T {
  const [key = '', ...rest] = field.split('.');
  const { [key]: value, ...others } = tree as Record<string, unknown>;
  if (rest.length === 0 || value === undefined) return others as T;
  return { ...others, [key]: without(value as object, rest.join('.')) } as T;
}

const aResource = (spec: EtcdClusterSpec, status: EtcdClusterStatus): EtcdCluster => ({
  apiVersion: API_VERSION,
  kind: 'EtcdCluster',
  metadata: {
    name: NAME,
    namespace: NAMESPACE,
    uid: UID,
    generation: 1,
    finalizers: ['x'],
    ...stampsIn(status),
  },
  spec,
  status,
});

/** The identity of a cluster whose members were made with the domain that `spec` asks for. */
function identity({ pod }: EtcdClusterSpec): Pick<EtcdClusterStatus, 'incarnation'> {
  const { incarnation } = aRunningStatus(5);
  if (incarnation === undefined || pod?.ClusterDomain === undefined) return {};
  const members = incarnation.members.map(member => ({
    ...member,
    peerURL: member.peerURL.replace('.svc:', `.svc.${pod.ClusterDomain}:`),
  }));
  return { incarnation: { ...incarnation, members } };
}

const recorded = (spec: EtcdClusterSpec): EtcdClusterStatus => ({
  ...aRunningStatus(5),
  ...identity(spec),
  currentVersion: RUNS,
  storage: {
    kind: spec.storage?.emptyDir ? 'EmptyDir' : 'PersistentVolumeClaim',
    size: '40Gi',
    decidedBy: 'Spec',
  },
  ...(spec.TLS && { tls: { mode: 'certManager', peer: true, client: true } }),
});

/** What is seen of `now`, whose members and objects were made of `then`. */
function seen(then: EtcdCluster, now: EtcdCluster): Observation {
  const names = namesOf(5);
  const storage = then.status?.storage?.kind ?? 'PersistentVolumeClaim';
  const object = (build: (cluster: EtcdCluster) => ManifestObject): ObjectFacts => {
    const stored = build(then);
    return { ...OURS, difference: firstDrift({ ...stored, spec: stored.spec }, build(now)) };
  };
  const pods = names.map(name => {
    const start = { state: 'restart' } as const;
    const { annotations } = memberPod(then, { name, token: TOKEN, start, storage, version: RUNS }).metadata;
    const madeFrom = annotations?.[ANNOTATION_MADE_FROM];
    return aPod({ name, version: RUNS, stamp: annotations?.[ANNOTATION_RENDERED], madeFrom });
  });
  const sleeps = then.spec.hibernated === true;
  return aRunningCluster(
    {
      cluster: { ...clusterFacts(now), hasFinalizer: true },
      pods: sleeps ? [] : pods,
      claims: names.map(name => {
        const { labels } = memberClaim(then, { name, token: TOKEN }).metadata;
        return aClaim({ name, version: RUNS, requested: '40Gi', storageClassName: 'fast', labels });
      }),
      peerService: object(peerService),
      clientService: object(clientService),
      probes: sleeps ? {} : Object.fromEntries(names.map(name => [name, aProbe({ name, version: RUNS })])),
      ...(sleeps && { membership: { known: false, message: 'nobody is there' } }),
    },
    5,
  );
}

/** The status that a pass writes of it. */
function report(observation: Observation, decision: Decision): EtcdClusterStatus {
  const members = observedMembers(situationOf(observation));
  return statusOf({ situation: situationOf(observation), decision, members }, { workflowId: 'w', now: NOW });
}

/** A cluster that lives as `spec` says, after a pass. */
function living(spec: EtcdClusterSpec): EtcdCluster {
  const before = effectiveCluster(aResource(spec, recorded(spec)));
  const observation = seen(before, before);
  return {
    ...before,
    status: {
      ...report(observation, { kind: 'idle', nextPassSeconds: 60 }),
      clusterID: before.status?.clusterID ?? '',
    },
  };
}

const replaced = (cluster: EtcdCluster, spec: EtcdClusterSpec): EtcdCluster =>
  effectiveCluster(aResource(spec, cluster.status ?? {}));

describe('a replace of a living cluster', () => {
  test.each(KEPT_FIELDS)('without spec.%s asks for nothing, and says what is kept', field => {
    const then = living(written(field));
    const spec = without(written(field), field);
    const now = replaced(then, spec);
    expect(now.written).toEqual(spec);
    const idle = plan(seen(then, then), {});
    expect(plan(seen(then, now), {})).toEqual(idle);
    expect(idle.kind).toBe('idle');
    expect(certificates(now)).toEqual(certificates(then));
    expect(keptFields(now).join()).toContain(`spec.${field} is absent: `);
    const { conditions, settings } = report(seen(then, now), idle);
    expect(conditions).toContainEqual(expect.objectContaining({ type: 'FieldsKept', status: 'True' }));
    // The next pass keeps it as well.
    expect(settings).toEqual(then.status?.settings);
  });

  it('without anything asks for nothing', () => {
    const then = living(WRITTEN);
    const now = replaced(then, {});
    expect(plan(seen(then, now), {})).toMatchObject({ kind: 'idle' });
    expect(now.spec).toEqual(WRITTEN);
  });

  it('with zero values, as old clients write them, asks for nothing', () => {
    const then = living(WRITTEN);
    const pod = { ...WRITTEN.pod, ClusterDomain: '', DNSTimeoutInSecond: 0, busyboxImage: '' };
    const now = replaced(then, { ...WRITTEN, size: 0, version: '', repository: '', paused: false, pod });
    expect(plan(seen(then, now), {})).toMatchObject({ kind: 'idle' });
  });

  it('that takes away what the CoreOS operator had without a default is a wish', () => {
    const nodeSelector = { disk: 'nvme' };
    const then = living({ ...WRITTEN, pod: { ...WRITTEN.pod, nodeSelector } });
    expect(plan(seen(then, replaced(then, WRITTEN)), {})).toMatchObject({
      kind: 'operate',
      operation: 'rolloutCluster',
    });
  });

  it.each([
    [{ size: 3 }, 'scaleCluster'],
    [{ repository: 'other.example.com/etcd' }, 'rolloutCluster'],
    [{ etcd: { logLevel: 'info' } }, 'rolloutCluster'],
    [{ etcd: { snapshotCount: 0 } }, 'rolloutCluster'],
    [{ service: { annotations: {} } }, 'repairCluster'],
    [{ pod: { priorityClassName: '' } }, 'rolloutCluster'],
  ] as const)('that writes %j asks for it', (change, operation) => {
    const then = living(WRITTEN);
    expect(plan(seen(then, replaced(then, change)), {})).toMatchObject({ kind: 'operate', operation });
  });
});

const volume = (storage: string) => ({ spec: { resources: { requests: { storage } } } });

describe('what is in force', () => {
  it('is the version that runs, not the one that was written and never reached', () => {
    const then = living(WRITTEN);
    const status = { ...then.status, settings: { ...then.status?.settings, version: '3.6.16' } };
    expect(effectiveCluster(aResource({}, status)).spec.version).toBe(RUNS);
    expect(effectiveCluster(aResource({}, { ...status, targetVersion: '3.5.30' })).spec.version).toBe(
      '3.5.30',
    );
  });

  it.each([
    ['storage.volumeClaimTemplate', { storage: { volumeClaimTemplate: volume('300Mi') } }],
    ['pod.persistentVolumeClaimSpec', { pod: { persistentVolumeClaimSpec: volume('300Mi').spec } }],
  ] as const)(
    'is the size that every volume has, not a larger one of %s that none could be given',
    (_, asked) => {
      const then = living(WRITTEN);
      const { volumeClaimTemplate: _template, ...storage } = WRITTEN.storage ?? {};
      const settings = { ...then.status?.settings, storage, ...asked };
      const kept = (size: string) =>
        effectiveCluster(
          aResource({}, { ...then.status, settings, storage: { kind: 'PersistentVolumeClaim', size } }),
        ).spec;
      const sizeOf = ({ storage: template, pod }: EtcdClusterSpec) =>
        (template?.volumeClaimTemplate?.spec ?? pod?.persistentVolumeClaimSpec)?.resources?.requests?.[
          'storage'
        ];
      expect(sizeOf(kept('256Mi'))).toBe('256Mi');
      expect(sizeOf(kept('300Mi'))).toBe('300Mi');
      expect(sizeOf(kept('1Gi'))).toBe('300Mi');
    },
  );

  it('of a cluster that was not begun is what is written', () => {
    const then = living(WRITTEN);
    const { incarnation: _, ...status } = then.status ?? {};
    expect(effectiveCluster(aResource({ size: 1 }, status)).spec).toEqual({ size: 1 });
  });

  it('is no form of storage that another was written in the place of', () => {
    const now = replaced(living(WRITTEN), { storage: { emptyDir: {} } });
    expect(now.spec.storage).toEqual({ emptyDir: {}, retain: 'Retain', retainDeadMemberFor: '48h' });
  });

  it('is no retention of another mode than the one that is written', () => {
    const then = living(WRITTEN);
    const compaction = (autoCompaction: NonNullable<EtcdClusterSpec['etcd']>['autoCompaction']) =>
      replaced(then, { etcd: { ...(autoCompaction && { autoCompaction }) } }).spec.etcd?.autoCompaction;
    expect(compaction({ mode: 'periodic' })).toEqual({ mode: 'periodic' });
    expect(compaction({ mode: 'revision' })).toEqual({ mode: 'revision', retention: '5000' });
    expect(compaction({ retention: '7000' })).toEqual({ mode: 'revision', retention: '7000' });
  });

  it('stays what it was while what is written cannot be carried out', () => {
    const then = living(WRITTEN);
    const wrong = replaced(then, { ...WRITTEN, etcd: { heartbeatIntervalMs: 2_000 } });
    const observation = seen(then, wrong);
    const { settings } = report(observation, plan(observation, {}));
    expect(settings).toEqual(then.status?.settings);
  });

  it('of a new cluster is recorded with the version that it is made with', () => {
    const cluster = aResource({}, {});
    const observation = {
      ...seen(living(WRITTEN), cluster),
      cluster: clusterFacts(effectiveCluster(cluster)),
    };
    const { settings } = report(observation, plan(observation, {}));
    expect(settings).toMatchObject({ size: 3, version: DEFAULT_VERSION, profile: 'Default' });
  });
});

describe('the schema', () => {
  const definition = customResourceDefinitions().find(({ spec }) => spec.names.kind === 'EtcdCluster');
  const spec = definition?.spec.versions[0]?.schema.openAPIV3Schema.properties?.['spec'] ?? {};
  const ATOMIC: readonly string[] = [...KEPT_FIELDS, ...REMOVED_FIELDS];

  function fieldsOf(schema: StructuralSchema, path = ''): string[] {
    if (ATOMIC.includes(path) || schema.properties === undefined) return [path];
    return Object.entries(schema.properties).flatMap(([key, of]) =>
      fieldsOf(of, path === '' ? key : `${path}.${key}`),
    );
  }

  it('has no field whose absence has no defined meaning', () => {
    expect(fieldsOf(spec).toSorted()).toEqual(ATOMIC.toSorted());
  });

  it('defaults no field of a cluster at admission', () => {
    expect(JSON.stringify(spec).match(/"default":/g)).toHaveLength(
      JSON.stringify(spec.default) === '{}' ? 1 : 0,
    );
  });
});
