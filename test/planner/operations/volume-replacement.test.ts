import { describe, expect, it } from 'vitest';
import type { EtcdClusterSpec, StorageStatus } from '../../../src/api/schemas/types.ts';
import {
  outdatedVolumes,
  volumesAskedFor,
  volumesRecorded,
} from '../../../src/planner/checks/outdated-volumes.ts';
import { recordedStorage } from '../../../src/planner/checks/recorded-storage.ts';
import type { Decision } from '../../../src/planner/model/decision.ts';
import type { ClaimFacts, Observation } from '../../../src/planner/model/observation.ts';
import type { WorkflowState } from '../../../src/planner/model/workflow-state.ts';
import { plan } from '../../../src/planner/plan.ts';
import { replacingVolumes } from '../../../src/planner/report/replacing-volumes.ts';
import { situationOf } from '../../../src/planner/situation.ts';
import {
  aClaim,
  aCluster,
  aMembership,
  aPod,
  aProbe,
  aRunningCluster,
  aRunningStatus,
  idOf,
  namesOf,
  NOW,
} from '../../worlds/builders.ts';

interface Given {
  readonly asked?: { readonly storageClassName?: string; readonly size?: string };
  readonly recorded?: { readonly [Field in keyof StorageStatus]?: StorageStatus[Field] | undefined };
  readonly claim?: Partial<ClaimFacts>;
  /** By name, what is otherwise of them. */
  readonly claims?: Readonly<Record<string, Partial<ClaimFacts>>>;
  readonly spec?: EtcdClusterSpec;
  readonly names?: readonly string[];
  readonly learner?: string;
  readonly observation?: Partial<Observation>;
}

const HASHES = (names: readonly string[]): Observation['hashes'] =>
  Object.fromEntries(names.map(name => [name, { ok: true, hash: '1', compactRevision: '1' }]));

/** Three members on claims of the class `standard`, and a specification that asks for `fast`. */
function aMove({
  asked = { storageClassName: 'fast' },
  recorded = {},
  claim = {},
  claims = {},
  spec = {},
  names = namesOf(3),
  learner,
  observation = {},
}: Given = {}): Observation {
  const { size, ...classed } = asked;
  const resources = size === undefined ? {} : { resources: { requests: { storage: size } } };
  const storage = { volumeClaimTemplate: { spec: { ...classed, ...resources } } };
  const status = aRunningStatus(3);
  const known: StorageStatus = { kind: 'PersistentVolumeClaim', storageClassName: 'standard', size: '8Gi' };
  const whole = aRunningCluster();
  const listed = aMembership(names);
  const members = listed.known
    ? listed.members.map(member => ({ ...member, isLearner: member.name === learner }))
    : [];
  return {
    ...whole,
    cluster: aCluster({
      spec: { size: 3, storage, ...spec },
      status: { ...status, storage: { ...known, ...recorded } as StorageStatus },
    }),
    membership: { ...listed, members } as Observation['membership'],
    pods: names.map(name => aPod({ name })),
    claims: names.map(name =>
      aClaim({ name, storageClassName: 'standard', requested: '8Gi', ...claim, ...claims[name] }),
    ),
    probes: Object.fromEntries(
      names.map(name => [name, aProbe({ name, memberId: idOf(name), isLearner: name === learner })]),
    ),
    hashes: HASHES(names),
    storageClassExists: true,
    ...observation,
  };
}

const outdated = (observation: Observation) =>
  outdatedVolumes(situationOf(observation)).map(({ view }) => view.name);
const stepsOf = (decision: Decision) =>
  'plan' in decision ? decision.plan.map(({ kind }) => kind as string) : [];
const NEW = { storageClassName: 'fast', requestedClass: 'fast' };

describe('volumes that the specification asks for otherwise', () => {
  it.each<[string, Given, string[]]>([
    ['of another class: followers first, the leader last', {}, ['example-1', 'example-2', 'example-0']],
    ['of the class that is asked for', { claim: { storageClassName: 'fast' } }, []],
    ['when no class is asked for', { asked: {} }, []],
    ['given another class by others than was asked for', { claim: { requestedClass: 'fast' } }, []],
    [
      'given another class by others, made by an earlier release',
      { recorded: { storageClassName: 'fast' } },
      [],
    ],
    [
      'of another class when the status was lost',
      { recorded: { storageClassName: undefined } },
      ['example-1', 'example-2', 'example-0'],
    ],
    ['of another class in part', { claims: { 'example-1': NEW, 'example-2': NEW } }, ['example-0']],
    ['larger than is asked for', { asked: { size: '4Gi' } }, ['example-1', 'example-2', 'example-0']],
    [
      'made larger by others than was asked for',
      { asked: { size: '4Gi' }, claim: { requestedSize: '4Gi', requested: '5Gi' } },
      [],
    ],
    [
      'made larger by others, and now larger than is asked for',
      { asked: { size: '2Gi' }, claim: { requestedSize: '4Gi', requested: '5Gi' } },
      ['example-1', 'example-2', 'example-0'],
    ],
    [
      'noted with a larger size than they have',
      { asked: { size: '4Gi' }, claim: { requestedSize: '8Gi', requested: '4Gi' } },
      [],
    ],
    ['expanded by hand', { asked: { size: '8Gi' }, claim: { requested: '16Gi' } }, []],
    ['smaller than is asked for', { asked: { size: '16Gi' } }, []],
    ['in pods', { recorded: { kind: 'EmptyDir' } }, []],
  ])('%s', (_, given, names) => {
    expect(outdated(aMove(given))).toEqual(names);
  });

  it('are not those of a learner or of a claim that is not ours', () => {
    const claims = { 'example-1': { owned: false } };
    const names = [...namesOf(3), 'example-3'];
    expect(outdated(aMove({ names, learner: 'example-3', claims }))).toEqual(['example-2', 'example-0']);
  });
});

describe('a member with such a volume', () => {
  it('is replaced: a learner first, and the plan names every member that goes', () => {
    const decision = plan(aMove(), {});
    expect(decision).toMatchObject({
      operation: 'replaceMember',
      step: { kind: 'addLearner', member: 'example-3' },
    });
    expect(stepsOf(decision).filter(kind => kind === 'removeMember')).toHaveLength(3);
    expect(stepsOf(decision).filter(kind => kind === 'moveLeader')).toHaveLength(1);
    expect(JSON.stringify(decision)).toContain(
      'its volume is of StorageClass standard, and spec.storage asks for fast',
    );
  });

  it('goes when its successor votes, and does not count as lost', () => {
    const names = [...namesOf(3), 'example-3'];
    const decision = plan(aMove({ names, claims: { 'example-3': NEW } }), {});
    expect(decision).toMatchObject({
      operation: 'replaceMember',
      step: { kind: 'stopMember', member: 'example-1', purpose: 'removal' },
    });
    const removal = 'plan' in decision ? decision.plan.find(({ kind }) => kind === 'removeMember') : {};
    expect(removal).not.toHaveProperty('replacement');
  });

  it('hands over first when it leads', () => {
    const names = ['example-0', 'example-3', 'example-4', 'example-5'];
    const claims = { 'example-3': NEW, 'example-4': NEW, 'example-5': NEW };
    expect(plan(aMove({ names, claims }), {})).toMatchObject({
      step: { kind: 'moveLeader', from: 'example-0' },
    });
  });

  it.each<[string, Given, string, RegExp]>([
    [
      'whose class does not exist',
      { observation: { storageClassExists: false } },
      'StorageClassMissing',
      /StorageClass fast does not exist, so no member is replaced/,
    ],
    [
      'that holds more than fits',
      { asked: { size: '100Mi' } },
      'VolumesTooSmall',
      /asks for volumes of 100Mi, but a member with a database of 20480 bytes needs at least \d+ bytes/,
    ],
    [
      'beside one that does not answer',
      { observation: { probes: { 'example-0': aProbe(), 'example-1': aProbe({ name: 'example-1' }) } } },
      'MembersUnhealthy',
      /example-2/,
    ],
  ])('%s stays, and it is said why', (_, given, reason, message) => {
    const decision = plan(aMove(given), {});
    expect(decision).toMatchObject({ kind: 'blocked', reason, message: expect.stringMatching(message) });
    expect(stepsOf(decision)).toContain('addLearner');
  });

  it('stays while nothing can be done with the specification', () => {
    const spec = { pod: { labels: { app: 'other' } } };
    expect(stepsOf(plan(aMove({ spec }), {}))).not.toContain('addLearner');
  });

  it.each([
    ['that is under way', { version: '3.6.99' }],
    ['that waits for a person', { version: '3.6.99', upgrade: { strategy: 'Supervised' } }],
  ] as const)('stays while there is an upgrade %s', (_, spec) => {
    const decision = plan(aMove({ spec }), {});
    expect(stepsOf(decision)).not.toContain('addLearner');
    expect(stepsOf(decision)).not.toEqual([]);
  });

  it('is called one of no class where nobody provisions volumes', () => {
    const decision = plan(aMove({ claim: { storageClassName: '' } }), {});
    expect(JSON.stringify(decision)).toContain('its volume is of StorageClass \\"\\" (none)');
  });

  it.each<[object, string]>([
    [{}, ''],
    [
      { storage: { kind: 'PersistentVolumeClaim', storageClassName: 'standard', size: '8Gi' } },
      '8Gi standard',
    ],
  ])('is described by what is recorded where nothing is asked for: %j', (status, described) => {
    expect(volumesAskedFor(aCluster({ status }))).toBe(described);
    expect(volumesRecorded(aCluster({ status }))).toBe(described);
  });

  it.each(['rolloutCluster', 'defragmentMembers'])('stays while %s still has to touch members', type => {
    const resources = { requests: { cpu: '2' } };
    const move = aMove({ spec: { pod: { resources } } });
    const { cluster, pods } = move;
    const status = { ...cluster.status, operation: { type } };
    const stamp = type === 'rolloutCluster' ? { stamp: '{"spec":"another"}' } : {};
    const outdatedPods = pods.map(pod => ({ ...pod, ...stamp }));
    const request = {
      kind: 'defragment',
      target: '',
      id: 'd',
      by: 'ana',
      at: NOW,
      ids: [idOf('example-1')],
    } as const;
    const workflowState =
      type === 'defragmentMembers' ? ({ requests: [request] } as unknown as WorkflowState) : {};
    const decision = plan({ ...move, pods: outdatedPods, cluster: { ...cluster, status } }, workflowState);
    expect(decision).not.toMatchObject({ operation: 'replaceMember' });
  });

  it('stays while somebody wants members restarted', () => {
    const request = { kind: 'restart', target: '', id: 'r', by: 'ana', ids: ['pod-example-1'] } as const;
    const workflowState = { requests: [request] } as unknown as WorkflowState;
    expect(plan(aMove(), workflowState)).toMatchObject({ operation: 'rolloutCluster' });
  });

  it.each(['rolloutCluster', 'defragmentMembers'])(
    'is replaced when %s has touched all that it had to',
    type => {
      const move = aMove();
      const { cluster } = move;
      const status = { ...cluster.status, operation: { type } };
      expect(plan({ ...move, cluster: { ...cluster, status } }, {})).toMatchObject({
        operation: 'replaceMember',
      });
    },
  );

  it('stays when that was aborted, and its successor goes', () => {
    const aborted = { operation: 'replaceMember', generation: 1, by: 'ana' } as const;
    const workflowState = { aborted } as unknown as WorkflowState;
    expect(plan(aMove(), workflowState)).toMatchObject({ kind: 'blocked', reason: 'Aborted' });
    const names = [...namesOf(3), 'example-3'];
    const voting = aMove({ names, claims: { 'example-3': NEW } });
    expect(plan(voting, workflowState)).toMatchObject({
      operation: 'scaleCluster',
      step: { kind: 'stopMember', member: 'example-3' },
    });
  });
});

describe('a learner on its way', () => {
  const names = [...namesOf(3), 'example-3'];
  const trouble = { reason: 'Unschedulable', message: 'unbound immediate PersistentVolumeClaims' };
  const waiting = (storageClassName: string) => {
    const move = aMove({
      names,
      learner: 'example-3',
      claims: { 'example-3': { phase: 'Pending', storageClassName, requestedClass: storageClassName } },
    });
    const listed = move.membership.known ? move.membership.members : [];
    const members = listed.map(member =>
      member.name === 'example-3' ? { ...member, name: '', started: false } : member,
    );
    const pods = move.pods.map(pod =>
      pod.name === 'example-3' ? { ...pod, phase: 'Pending', ready: false, trouble } : pod,
    );
    const { 'example-3': _, ...probes } = move.probes;
    return { ...move, pods, probes, membership: { ...move.membership, members } } as Observation;
  };

  it('whose volume is not made is waited for, and no member goes', () => {
    expect(plan(waiting('fast'), {})).toMatchObject({
      kind: 'blocked',
      reason: 'MembersNotStarting',
      message: expect.stringContaining('unbound immediate PersistentVolumeClaims'),
    });
  });

  it('is taken back when another class is asked for by now', () => {
    expect(plan(waiting('fats'), {})).toMatchObject({
      step: {
        kind: 'removeMember',
        member: 'example-3',
        reason: 'it did not start, and the specification has changed since',
      },
    });
  });
});

describe('what is said of it', () => {
  const said = (observation: Observation) => replacingVolumes(situationOf(observation));
  const reported = (observation: Observation, status: 'True' | 'False'): Observation => {
    const { cluster } = observation;
    const conditions = [
      { type: 'VolumesReplaced', status, reason: 'Replacing', message: 'as before', lastTransitionTime: '' },
    ];
    return {
      ...observation,
      cluster: { ...cluster, status: { ...cluster.status, conditions } },
    } as Observation;
  };

  it('names the members that are left, and why', () => {
    const claims = { 'example-1': NEW, 'example-2': NEW };
    expect(said(aMove({ claims }))).toMatchObject([
      {
        type: 'VolumesReplaced',
        status: 'False',
        message:
          '1 of 3 members are to be replaced, one at a time; example-0: its volume is of StorageClass standard, and spec.storage asks for fast',
      },
    ]);
  });

  it('is nothing of a cluster that never moved', () => {
    expect(said(aMove({ claim: NEW }))).toEqual([]);
  });

  it('is that it is done, when it was begun', () => {
    expect(said(reported(aMove({ claim: NEW }), 'False'))).toMatchObject([{ status: 'True' }]);
  });

  it('is what it was while no quorum lists the members', () => {
    const membership = { known: false, message: 'no quorum' } as const;
    const away = reported(aMove({ observation: { membership } }), 'False');
    expect(said(away)).toMatchObject([{ status: 'False', message: 'as before' }]);
  });

  it.each<[string, Given, object]>([
    ['a class when every member has it', { claim: NEW }, { storageClassName: 'fast', size: '8Gi' }],
    [
      'no class that one member does not have',
      { claims: { 'example-1': NEW } },
      { storageClassName: 'standard' },
    ],
    [
      'a smaller size when every claim is as small',
      { asked: { size: '4Gi' }, claim: { requested: '4Gi' } },
      { size: '4Gi', storageClassName: 'standard' },
    ],
    ['no smaller size before', { asked: { size: '4Gi' } }, { size: '8Gi' }],
    [
      'nothing while no quorum lists the members',
      { claim: NEW, observation: { membership: { known: false, message: '' } } },
      { storageClassName: 'standard' },
    ],
  ])('status records %s', (_, given, storage) => {
    expect(recordedStorage(situationOf(aMove(given)))).toMatchObject(storage);
  });
});

describe('a VolumeAttributesClass', () => {
  const asking = (claims: Readonly<Record<string, Partial<ClaimFacts>>>) => {
    const spec = { volumeAttributesClassName: 'gold' };
    return aMove({ asked: {}, claims, spec: { storage: { volumeClaimTemplate: { spec } } } });
  };

  it('is brought to the claims that have another one, and nobody is replaced', () => {
    const decision = plan(asking({ 'example-0': { attributesClass: 'gold' } }), {});
    expect(stepsOf(decision)).toEqual(['modifyVolume', 'modifyVolume']);
    expect(decision).toMatchObject({ step: { claim: 'example-1', attributesClass: 'gold' } });
  });

  it('waits for a claim that has no volume yet, and asks nothing of one that has it', () => {
    const gold = { attributesClass: 'gold' };
    const claims = { 'example-0': gold, 'example-1': gold, 'example-2': { phase: 'Pending' } };
    expect(plan(asking(claims), {}).kind).toBe('idle');
  });

  it('that the template does not name is left as it is', () => {
    expect(plan(aMove({ asked: {}, claim: { attributesClass: 'gold' } }), {}).kind).toBe('idle');
  });
});
