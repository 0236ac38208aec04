/** What users of one namespace write, and what the operator does with it, whose rights are wider than theirs. */
import { describe, expect, it } from 'vitest';
import { openClaim } from '../../src/activities/backup/claim-store.ts';
import { terminationReason } from '../../src/activities/observe/termination-message.ts';
import { withHomes } from '../../src/activities/observe/volume-hosts.ts';
import { ignoredClusterFields } from '../../src/api/validation/ignored-fields.ts';
import { ANNOTATION_CLAIM_UID, ANNOTATION_INCARNATION, GROUP } from '../../src/api/names.ts';
import type { KubeObject, WritableObject } from '../../src/kube/port.ts';
import { memberClaim } from '../../src/objects/claim.ts';
import { cluster, TOKEN } from '../objects/clusters.ts';
import { ActivityEnvironment } from '../worlds/activity-environment.ts';
import { aClaim } from '../worlds/builders.ts';
import { StoreMemory } from '../../src/store/memory.ts';
import { FakeKube } from '../fakes/kubernetes/kube.ts';
import { PassingTime } from '../fakes/waiting.ts';

describe("a template of claims that sets the operator's own annotations, as one copied from a claim does", () => {
  const annotations = {
    [ANNOTATION_CLAIM_UID]: 'of-another',
    [`${GROUP}/cluster-id`]: 'c0ffee',
    team: 'shop',
  };
  const metadata = { annotations, labels: { app: 'mine', team: 'shop' } };
  const spec = { storage: { volumeClaimTemplate: { metadata, spec: {} } } };

  it('makes claims without them', () => {
    const claim = memberClaim(cluster(spec), { name: 'example-3', token: TOKEN });
    expect(claim.metadata.annotations).toMatchObject({ team: 'shop', [ANNOTATION_INCARNATION]: TOKEN });
    expect(claim.metadata.annotations).not.toHaveProperty([ANNOTATION_CLAIM_UID]);
    expect(claim.metadata.annotations).not.toHaveProperty([`${GROUP}/cluster-id`]);
    expect(claim.metadata.labels).toMatchObject({ team: 'shop', app: 'etcd' });
  });

  it('lists those that do nothing', () => {
    const fields = ignoredClusterFields(spec).map(({ field }) => field);
    const path = 'spec.storage.volumeClaimTemplate.metadata';
    expect(fields).toEqual([
      `${path}.labels[app]`,
      `${path}.annotations[${ANNOTATION_CLAIM_UID}]`,
      `${path}.annotations[${GROUP}/cluster-id]`,
    ]);
  });
});

describe('the volume that a claim names', () => {
  /** What is seen of a claim that names a volume with this owner, on a node that is gone. */
  async function homeOf(claimRef?: object): Promise<unknown> {
    const kube = new FakeKube({});
    const matchExpressions = [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['node-9'] }];
    kube.seed({
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'disk' },
      spec: { claimRef, nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } } },
    } as WritableObject);
    const facts = aClaim({ name: 'example-0' });
    const object = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        name: 'example-0',
        namespace: 'shop',
        uid: facts.uid,
        annotations: { 'volume.kubernetes.io/selected-node': 'node-9' },
      },
      spec: { volumeName: 'disk' },
    } as KubeObject;
    const [seen] = await withHomes(kube, {
      claims: [{ facts, object }],
      pods: [],
      status: {},
      returning: [],
    });
    return seen?.home;
  }

  it.each([
    ['nobody is noted on it', undefined],
    ['it is noted on it', { namespace: 'shop', name: 'example-0', uid: 'claim-example-0' }],
  ])('says where its data is when %s', async (_, claimRef) => {
    expect(await homeOf(claimRef)).toEqual({ node: 'node-9', exists: false });
  });

  it.each([
    ['of another namespace', { namespace: 'other', name: 'example-0', uid: 'u-9' }],
    ['of another claim', { namespace: 'shop', name: 'data', uid: 'u-9' }],
    ['of a claim of that name that was deleted', { namespace: 'shop', name: 'example-0', uid: 'u-9' }],
  ])('says nothing, and proves no loss, when it is that %s', async (_, claimRef) => {
    expect(await homeOf(claimRef)).toBeUndefined();
  });
});

describe('the last words of a container', () => {
  it('hold no value of a variable that etcd could not read, which may come from a Secret', () => {
    const error =
      'invalid value "s3cret" for ETCD_HEARTBEAT_INTERVAL: strconv.ParseUint: parsing "s3cret": invalid syntax';
    const line = JSON.stringify({ level: 'warn', msg: 'failed to verify flags', error });
    const fatal = JSON.stringify({ level: 'fatal', msg: 'failed to verify flags', error });
    for (const said of [line, fatal, `{"level":"info"}\n${line}\n`]) {
      expect(terminationReason(said)).not.toContain('s3cret');
      expect(terminationReason(said)).toContain('the value of ETCD_HEARTBEAT_INTERVAL cannot be used');
    }
  });

  it('hold nothing that a terminal would act upon', () => {
    expect(terminationReason('\u001B]0;title\u0007\u001B[2Jgone\u009B31m\tnow')).toBe(
      ']0;title[2Jgone31m\tnow',
    );
  });
});

it('a claim of a member is not lent to a backup: it would keep the member from its volume, and change who may read it', async () => {
  const kube = new FakeKube({});
  kube.seed({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'example-0', namespace: 'shop', annotations: { [ANNOTATION_INCARNATION]: TOKEN } },
  } as WritableObject);
  const deps = {
    kube,
    now: () => 0,
    time: new PassingTime(),
    image: async () => 'operator:test',
    memory: new StoreMemory(),
  };
  const owner = { kind: 'EtcdBackup', namespace: 'shop', name: 'nightly', uid: 'u-1' } as const;
  const opened = new ActivityEnvironment().run(() => openClaim(deps, owner, { claim: 'example-0' }));
  await expect(opened).rejects.toThrow('PersistentVolumeClaim shop/example-0 belongs to a member');
  expect([...kube.all('Pod'), ...kube.all('Secret')]).toEqual([]);
});
