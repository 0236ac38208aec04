/** Steps whose row says that they are planned once more: each activity asks the planner, and refuses what it would not do now. */
import { describe, expect, it } from 'vitest';
import { ANNOTATION_WITHDRAWN } from '../../src/api/names.ts';
import { type StepPlannedAgain, STEPS } from '../../src/planner/model/step-catalogue.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

type Kind = StepPlannedAgain['kind'];
type Given = { readonly [Each in Kind]: Extract<StepPlannedAgain, { readonly kind: Each }> };

/** A cluster of which nothing is to be done. */
async function living(): Promise<OperatorWorld> {
  const world = new OperatorWorld();
  await world.run();
  await world.run();
  return world;
}

/** Steps that name what is really there, so that nothing but the planner keeps them from being done. */
function stepsOf(world: OperatorWorld): Given {
  const member = 'example-1';
  const podUid = world.kube.peek(world.pod(member))?.metadata.uid ?? '';
  const claimUid = world.kube.peek(world.claim(member))?.metadata.uid ?? '';
  const pod = { name: member, uid: podUid };
  const claim = { name: member, uid: claimUid };
  const restore = { name: 'monday', uid: 'uid-of-monday' };
  const token = 'example-00000000-2';
  const because = 'it was planned some time ago';
  const id = world.cluster.status.members?.details?.find(({ name }) => name === member)?.id ?? '';
  return {
    remakeMembers: { kind: 'remakeMembers', token, pods: [pod], claims: [claim], because },
    addLearner: { kind: 'addLearner', member: 'example-3', peerUrl: 'http://example-3:2380', expected: [] },
    removeMember: { kind: 'removeMember', member, id, expected: [], reason: because },
    retireMember: { kind: 'retireMember', member, pods: [pod], claims: [claim], retention: 'Delete' },
    moveLeader: { kind: 'moveLeader', from: 'example-0', to: member, toId: id },
    compareKeys: { kind: 'compareKeys', members: [pod] },
    defragmentMember: { kind: 'defragmentMember', member, id, uid: podUid, because },
    compactHistory: { kind: 'compactHistory', revision: '7' },
    disarmCorrupt: { kind: 'disarmCorrupt', alarms: [id], members: [{ ...pod, id }] },
    withdrawMembers: { kind: 'withdrawMembers', pods: [pod] },
    disarmNoSpace: { kind: 'disarmNoSpace', alarms: [id], members: [{ ...pod, id }] },
    stopMember: { kind: 'stopMember', member, uid: podUid, claimUid, purpose: 'hibernation', because },
    expandClaim: { kind: 'expandClaim', claim: member, uid: claimUid, from: '1Gi', size: '9Gi' },
    labelClaim: { kind: 'labelClaim', claim: member, uid: claimUid, labels: { a: 'b' }, annotations: {} },
    labelPods: { kind: 'labelPods', pods: [{ ...pod, labels: { a: 'b' } }] },
    takeUpMembers: {
      kind: 'takeUpMembers',
      token,
      clusterId: 'c0ffee',
      lastSerial: 2,
      claims: [claim],
      pods: [pod],
      objects: [],
    },
    forceDeletePods: { kind: 'forceDeletePods', pods: [pod], because },
    enableDowngrade: { kind: 'enableDowngrade', member, version: '3.5.0', members: [member] },
    cancelDowngrade: { kind: 'cancelDowngrade', member, version: '3.5.0', members: [member] },
    replaceImage: { kind: 'replaceImage', member, uid: podUid, version: '3.6.17', because },
    fenceMembers: { kind: 'fenceMembers', pods: [pod] },
    switchIncarnation: {
      kind: 'switchIncarnation',
      restore,
      incarnation: { token, members: [] },
      storage: { kind: 'PersistentVolumeClaim' },
      version: '3.6.16',
      members: [member],
      keep: [claim],
    },
    fillVolume: { kind: 'fillVolume', restore, token, member },
    copySurvivor: {
      kind: 'copySurvivor',
      restore,
      token,
      member,
      survivor: { name: member, claimUid, revision: 7 },
    },
    inspectSurvivor: { kind: 'inspectSurvivor', member, claimUid, node: 'node-1' },
    requestRecovery: {
      kind: 'requestRecovery',
      name: 'monday',
      clusterId: 'c0ffee',
      survivor: { name: member, id, claimUid },
      revision: 7,
      lastRevision: 7,
      givenUp: [{ name: 'example-0', id: 'a' }],
      by: 'ada',
      window: because,
    },
    unpackBackup: { kind: 'unpackBackup', restore, token, member },
    startSeed: { kind: 'startSeed', restore, token, member, claimUid },
    disarmAlarms: { kind: 'disarmAlarms', alarms: [{ memberId: id, alarm: 'NOSPACE' }] },
    requestRestore: { kind: 'requestRestore', name: 'monday', backup: 'daily', time: '2026-11-21T10:00:00Z' },
    concludeRestore: { kind: 'concludeRestore', restore },
    abandonRestore: { kind: 'abandonRestore', restore, because },
    revertRestore: { kind: 'revertRestore', restore, because, claims: [claim], pods: [pod] },
  };
}

/** Everything that such a step could have changed, but that clients are led away from the pod that was to be stopped. */
function everything(world: OperatorWorld): unknown {
  const kinds = ['Pod', 'PersistentVolumeClaim', 'Service', 'EtcdCluster', 'EtcdRestore'];
  const objects = kinds.flatMap(kind => world.kube.all(kind));
  return objects.map(({ metadata: { uid, deletionTimestamp, annotations = {} }, spec, ...object }) => {
    const { [ANNOTATION_WITHDRAWN]: _, ...others } = annotations;
    return { uid, deletionTimestamp, annotations: others, spec, status: object['status'] };
  });
}

const kinds = (Object.keys(STEPS) as Kind[]).filter(kind => STEPS[kind].plannedAgain);

describe('a step that is not planned any more is refused by the planner, and changes nothing:', () => {
  it.each(kinds)('%s', async kind => {
    const world = await living();
    const step = stepsOf(world)[kind];
    const before = everything(world);
    await expect(world.perform(step)).rejects.toMatchObject({
      type: 'PreconditionChanged',
      nonRetryable: true,
      message: `${kind} is not performed: another step is planned now`,
    });
    expect(everything(world)).toEqual(before);
  });
});
