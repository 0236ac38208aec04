/**
 * Nothing that a user can write makes a pass throw: of every specification that the OpenAPI schemas of the three kinds
 * let through, there is a plan, a report and, where it is to be carried out, there are objects.
 */
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backupWithDefaults } from '../../src/api/defaults/etcd-backup.ts';
import { customResourceDefinitions } from '../../src/api/schemas/crd.ts';
import { API_VERSION, type Kind } from '../../src/api/names.ts';
import { parseTimestamp } from '../../src/api/values/time.ts';
import type {
  EtcdBackup,
  EtcdBackupSpec,
  EtcdBackupStatus,
  EtcdClusterSpec,
  EtcdClusterStatus,
  EtcdRestore,
  EtcdRestoreSpec,
} from '../../src/api/schemas/types.ts';
import { validateCluster } from '../../src/api/validation/validate.ts';
import { disruptionBudget } from '../../src/objects/budget.ts';
import { certificates } from '../../src/objects/certificate.ts';
import { memberClaim } from '../../src/objects/claim.ts';
import { memberPod } from '../../src/objects/pod.ts';
import { clientService, peerService } from '../../src/objects/services.ts';
import type { BackupFacts } from '../../src/planner/backup/observation.ts';
import { planBackup } from '../../src/planner/backup/plan.ts';
import { backupStatus, backupTransitions } from '../../src/planner/backup/report.ts';
import { toDelete } from '../../src/planner/backup/retention.ts';
import type { Observation } from '../../src/planner/model/observation.ts';
import { plan } from '../../src/planner/plan.ts';
import { transitions } from '../../src/planner/report/events.ts';
import { observedMembers } from '../../src/planner/report/members.ts';
import { statusOf } from '../../src/planner/report/status.ts';
import { planRestoreResource } from '../../src/planner/restore/plan.ts';
import { restoreStatus } from '../../src/planner/restore/report.ts';
import {
  aCluster,
  anObservation,
  aPod,
  aRunningCluster,
  aRunningStatus,
  NAME,
  NAMESPACE,
  namesOf,
  NOW,
  TOKEN,
  UID,
} from '../worlds/builders.ts';
import { ofSchema } from '../worlds/schema-arbitrary.ts';
import { situationOf } from '../../src/planner/situation.ts';

function specsOf<Spec>(kind: Kind): fc.Arbitrary<Spec> {
  const definition = customResourceDefinitions().find(({ spec }) => spec.names.kind === kind);
  const schema = definition?.spec.versions[0]?.schema.openAPIV3Schema.properties?.['spec'];
  if (schema === undefined) throw new RangeError(`${kind} has no schema`);
  return ofSchema(schema) as fc.Arbitrary<Spec>;
}

const RUNS = { numRuns: 100 };
const now = Date.parse(NOW);
const metadata = { name: NAME, namespace: NAMESPACE, uid: UID, generation: 2, creationTimestamp: NOW };

/** Everything that a cluster of this specification is made of. */
function objectsOf(observation: Observation): readonly object[] {
  const { object } = observation.cluster;
  if (validateCluster(object, observation.cluster.status.currentVersion).blocking.length > 0) return [];
  const member = { name: `${NAME}-0`, token: TOKEN };
  return [
    peerService(object),
    clientService(object),
    disruptionBudget(object, 2),
    memberClaim(object, member),
    memberPod(object, { ...member, start: { state: 'restart' }, storage: 'PersistentVolumeClaim' }),
    ...certificates(object),
  ];
}

function look(observation: Observation): void {
  const decision = plan(observation, {});
  const findings = {
    situation: situationOf(observation),
    decision,
    members: observedMembers(situationOf(observation)),
  };
  const status = statusOf(findings, { workflowId: 'etcdcluster/shop/example', now: NOW });
  const before: EtcdClusterStatus = observation.cluster.status;
  expect(status.conditions?.length).toBeGreaterThan(0);
  expect(JSON.stringify(transitions(before, status))).not.toContain('undefined');
}

describe('an EtcdCluster of any specification', () => {
  const specs = specsOf<EtcdClusterSpec>('EtcdCluster');

  it('that is new has a plan, a status and objects', () => {
    const check = (spec: EtcdClusterSpec): void => {
      const cluster = aCluster({ spec });
      const observation = anObservation({ cluster });
      look(observation);
      expect(objectsOf(observation).every(object => JSON.stringify(object) !== '{}')).toBe(true);
    };
    fc.assert(fc.property(specs, check), RUNS);
  });

  it('that lives, and was made from another one, has a plan and a status', () => {
    const check = (spec: EtcdClusterSpec, then: EtcdClusterSpec): void => {
      const made = anObservation({ cluster: aCluster({ spec: then, status: aRunningStatus() }) });
      const pods = namesOf(3).map(name => {
        const [stamp, note] = annotationsOf(made, name);
        return aPod({ name, stamp, madeFrom: note });
      });
      look(aRunningCluster({ cluster: aCluster({ spec, status: aRunningStatus() }), pods }));
    };
    fc.assert(fc.property(specs, specs, check), RUNS);
  });

  it('that is being deleted has a plan and a status', () => {
    const check = (spec: EtcdClusterSpec): void =>
      look(aRunningCluster({ cluster: aCluster({ spec, status: aRunningStatus(), deleting: true }) }));
    fc.assert(fc.property(specs, check), RUNS);
  });
});

/** The stamps of the pod that was made of it; none where nothing may be made of it. */
function annotationsOf(observation: Observation, name: string): readonly (string | undefined)[] {
  if (objectsOf(observation).length === 0) return [undefined, undefined];
  const { object } = observation.cluster;
  const start = { state: 'restart' } as const;
  const { annotations } = memberPod(object, {
    name,
    token: TOKEN,
    start,
    storage: 'PersistentVolumeClaim',
  }).metadata;
  const ending = (end: string): string | undefined =>
    Object.entries(annotations ?? {}).find(([key]) => key.endsWith(end))?.[1];
  return [ending('rendered'), ending('made-from')];
}

const STATUSES: readonly EtcdBackupStatus[] = [
  {},
  { succeeded: true },
  {
    lastRun: { startedAt: '2026-11-21T02:30:00Z', outcome: 'Succeeded', generation: 1, completedAt: NOW },
    history: [
      { time: '2026-11-21T02:30:00Z', location: 's3://b/k', verified: 'Checksum' },
      { time: '2026-10-21T02:30:00Z', location: 's3://b/j', verified: 'Checksum' },
      { time: '2026-09-21T02:30:00Z', location: 's3://b/i', verified: 'Checksum' },
    ],
    schedule: {
      rule: 'cron 30 2 * * * in UTC',
      since: '2026-01-01T00:00:00Z',
      lastTime: '2026-11-21T02:30:00Z',
    },
  },
  {
    lastRun: { startedAt: '2026-11-21T02:30:00Z', outcome: 'Failed', generation: 1, message: 'no route' },
    schedule: { rule: 'interval', since: NOW, failures: 3, retryAt: NOW, lastTime: '2026-11-21T02:30:00Z' },
  },
  { progress: { startedAt: '2026-11-21T09:59:50Z', bytes: 5 } },
];

describe('an EtcdBackup of any specification', () => {
  it('has a plan and a status, new, living, running and being deleted', () => {
    const check = (spec: EtcdBackupSpec, status: EtcdBackupStatus, deleting: boolean): void => {
      const object: EtcdBackup = { apiVersion: API_VERSION, kind: 'EtcdBackup', metadata, spec, status };
      const backup: BackupFacts = {
        namespace: NAMESPACE,
        name: NAME,
        uid: UID,
        generation: 2,
        deleting,
        hasFinalizer: status.progress !== undefined,
        createdAt: now - 60_000,
        object,
        config: backupWithDefaults(spec),
        status,
      };
      planBackup({ now, backup }, {});
      const written = backupStatus(
        { now, backup },
        {},
        {
          workflowId: 'etcdbackup/shop/example',
          pause: undefined,
        },
      );
      backupTransitions(status, written);
      expect(written.nextRun ?? NOW).toMatch(/^\d{4}-/);
      const kept = (written.history ?? []).map(({ time, location }) => ({
        location,
        time: parseTimestamp(time) ?? 0,
        verified: 'Checksum' as const,
      }));
      toDelete(kept, backup.config.retention, { timeZone: backup.config.timeZone, now });
    };
    const specs = specsOf<EtcdBackupSpec>('EtcdBackup');
    fc.assert(fc.property(specs, fc.constantFrom(...STATUSES), fc.boolean(), check), { numRuns: 500 });
  });
});

describe('an EtcdRestore of any specification', () => {
  it('has a plan and a status, with and without the cluster that it names', () => {
    const backup: EtcdBackup = {
      apiVersion: API_VERSION,
      kind: 'EtcdBackup',
      metadata: { ...metadata, name: 'nightly' },
      spec: { clusterRef: { name: NAME }, storageType: 'S3', s3: { path: 'b/k' } },
      status: STATUSES[2] ?? {},
    };
    const check = (spec: EtcdRestoreSpec, lives: boolean, found: boolean): void => {
      const restore: EtcdRestore = { apiVersion: API_VERSION, kind: 'EtcdRestore', metadata, spec };
      const observation = {
        now,
        restore,
        target: lives ? situationOf(aRunningCluster()) : undefined,
        backup: found ? backup : undefined,
      };
      const decision = planRestoreResource(observation);
      const workflowId = 'etcdrestore/shop/example';
      const status = restoreStatus(observation, { decision, workflowState: {}, workflowId });
      expect(status.conditions?.length).toBeGreaterThan(0);
    };
    const specs = specsOf<EtcdRestoreSpec>('EtcdRestore');
    fc.assert(fc.property(specs, fc.boolean(), fc.boolean(), check), { numRuns: 300 });
  });
});
