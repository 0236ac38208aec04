/** The markdown that users read in the Temporal UI. */
import { describe, expect, it } from 'vitest';
import type { Assessment, ClusterSummary, Decision } from '../../src/activities/index.ts';
import { ACTION_TIMING } from '../../src/planner/model/steps/row.ts';
import { backupDetails } from '../../src/workflows/backup/details.ts';
import { clusterDetails, planDetails } from '../../src/workflows/cluster/details.ts';

const SUMMARY: ClusterSummary = {
  phase: 'Running',
  version: '3.6.16',
  size: 3,
  membersReady: 1,
  healthy: false,
  paused: false,
  members: [
    {
      name: 'example-0',
      id: '8e9e05c5',
      role: 'Leader',
      health: 'Healthy',
      version: '3.6.16',
      node: 'node-1',
    },
    { name: 'example-1', id: '', role: '', health: 'Unknown', version: '', node: '' },
  ],
  conditions: [
    { type: 'Available', status: 'True', reason: 'LinearizableRead', message: 'a read went through' },
  ],
};

function details(decision: Decision, summary: Partial<ClusterSummary> = {}): string {
  return clusterDetails({ decision, generation: 1, summary: { ...SUMMARY, ...summary } });
}

describe('the details of a cluster', () => {
  it('show state, members, conditions and what comes next, each in its own paragraph', () => {
    expect(details({ kind: 'idle', nextPassSeconds: 60 })).toBe(
      [
        '**Running**, 1 of 3 members ready, etcd 3.6.16',
        [
          '| `Name` | `Id` | `Role` | `Health` | `etcd` | `Node` |',
          '| :--- | :--- | :--- | :--- | :--- | :--- |',
          '| `example-0` | `8e9e05c5` | `Leader` | `Healthy` | `3.6.16` | `node-1` |',
          '| `example-1` | – | – | `Unknown` | – | – |',
        ].join('\n'),
        '- **Available** = True (LinearizableRead): a read went through',
        'Nothing to do.',
      ].join('\n\n'),
    );
  });

  it('leave out the conditions that say once more what others say', () => {
    const more = ['Ready', 'Reconciling', 'Stalled'].map(type => ({
      type,
      status: 'True',
      reason: 'Any',
      message: 'again',
    }));
    const text = details(
      { kind: 'idle', nextPassSeconds: 60 },
      { conditions: [...more, ...SUMMARY.conditions] },
    );
    expect(text).not.toContain('again');
    expect(text).toContain('**Available**');
  });

  it('begin with what needs attention', () => {
    const text = details({ kind: 'idle', nextPassSeconds: 60 }, { attention: 'AwaitingApproval' });
    expect(text).toMatch(/^.*etcd 3\.6\.16\. Needs attention: \*\*AwaitingApproval\*\*\n/);
  });

  it.each([
    [
      'send approve with {"operation":"replaceMember","ids":["8e9e05c5"],"by":"your name"}, or abort',
      '`{"operation":"replaceMember","ids":["8e9e05c5"],"by":"your name"}`, or abort',
    ],
    [
      'confirm it: kubectl -n shop annotate pvc e-0 --overwrite a/b=c',
      ': `kubectl -n shop annotate pvc e-0 --overwrite a/b=c`',
    ],
    [
      'Show it with "temporal workflow show --workflow-id a/b". Deploy',
      '"`temporal workflow show --workflow-id a/b`". Deploy',
    ],
    ['kubectl describe pod e-0 tells why', '** kubectl describe pod e-0 tells why'],
    ['a `{"b":"`![x](http://evil)"}', 'a \\``{"b":"![x](http://evil)"}`'],
    ['a \\[x](http://evil)', 'a \\\\\\[x\\](http://evil)'],
  ])('set what is copied as code, which the UI shows as it is: %s', (message, shown) => {
    const blocked: Decision = {
      kind: 'blocked',
      reason: 'StepFailed',
      message,
      nextPassSeconds: 1,
      plan: [],
    };
    expect(details(blocked)).toContain(shown);
  });

  it('show foreign texts without images, links or table rows', () => {
    const foreign = 'read s3://b/![x](http://evil/i.png) <img src=x> from end to end';
    const shown = 'read s3://b/!\\[x\\](http://evil/i.png) \\<img src=x> from end to end';
    const blocked: Decision = {
      kind: 'blocked',
      reason: 'StepFailed',
      message: foreign,
      nextPassSeconds: 1,
      plan: [],
    };
    expect(details(blocked)).toContain(shown);
    const condition = { type: 'Available', status: 'True', reason: 'R', message: foreign } as const;
    expect(details({ kind: 'idle', nextPassSeconds: 60 }, { conditions: [condition] })).toContain(shown);
    const backup = backupDetails({
      decision: { kind: 'idle', nextPassSeconds: 60 },
      summary: { paused: false, newest: [{ time: 't', location: 's3://a|b/[c]', verified: '' }] },
    });
    expect(backup).toContain('| t | s3://a\\|b/\\[c\\] | – |');
  });

  it('show what users asked for, and what was refused', () => {
    const text = clusterDetails(
      { decision: { kind: 'idle', nextPassSeconds: 60 }, generation: 1, summary: SUMMARY },
      {
        requests: [{ id: 1, kind: 'replaceMember', target: 'example-1', by: 'ana', reason: 'old\ndisk' }],
        refused: 'moveLeader: example-1 is not known to be healthy, so it cannot become the leader',
      },
    );
    expect(text.split('\n\n').slice(-2)).toEqual([
      '- **replaceMember** `example-1`, asked for by ana (old disk)',
      'Refused: moveLeader: example-1 is not known to be healthy, so it cannot become the leader',
    ]);
  });

  it('show what EtcdRequests ask for, too', () => {
    const requests = [{ id: 'uid', kind: 'moveLeader' as const, target: 'example-2', by: 'bob' }];
    const text = clusterDetails(
      {
        decision: { kind: 'idle', nextPassSeconds: 60 },
        generation: 1,
        summary: SUMMARY,
        holding: { requests },
      },
      { requests: [], refused: undefined },
    );
    expect(text.split('\n\n').at(-1)).toBe('- **moveLeader** `example-2`, asked for by bob');
  });

  it('show only that the resource is gone', () => {
    const gone: Assessment = { decision: { kind: 'gone' }, generation: 0, summary: undefined };
    expect(clusterDetails(gone)).toBe('The resource is gone.');
  });

  it('keep tables and lists intact for any message', () => {
    const hostile = 'one\ntwo | three\r\n\tfour';
    const [member] = SUMMARY.members;
    const text = details(
      { kind: 'idle', nextPassSeconds: 60 },
      {
        members: member === undefined ? [] : [{ ...member, node: hostile }],
        conditions: [{ type: 'Healthy', status: 'False', reason: 'MembersUnhealthy', message: hostile }],
      },
    );
    expect(text).toContain('| `3.6.16` | `one two \\| three four` |\n\n');
    expect(text).toContain('- **Healthy** = False (MembersUnhealthy): one two | three four\n\n');
  });
});

describe('the plan', () => {
  const plan = [
    { kind: 'ensureObjects', summary: 'create the client Service' },
    { kind: 'awaitMembers', summary: 'wait until example-0 are ready' },
  ] as const;

  it.each<[Decision, string]>([
    [{ kind: 'gone' }, 'The resource is gone.'],
    [{ kind: 'idle', nextPassSeconds: 60 }, 'Nothing to do.'],
    [
      { kind: 'blocked', reason: 'Paused', message: 'paused by\nme', nextPassSeconds: 60, plan },
      '**Blocked: Paused.** paused by me\n1. create the client Service\n2. wait until example-0 are ready',
    ],
    [
      { kind: 'blocked', reason: 'MemberLost', message: 'example-1 is lost', nextPassSeconds: 10, plan: [] },
      '**Blocked: MemberLost.** example-1 is lost',
    ],
    [
      {
        kind: 'operate',
        operation: 'createCluster',
        step: { kind: 'ensureObjects', objects: ['clientService'] },
        timing: ACTION_TIMING,
        plan,
      },
      '**createCluster**\n1. create the client Service\n2. wait until example-0 are ready',
    ],
  ])('%j', (decision, expected) => {
    expect(planDetails(decision)).toBe(expected);
  });
});
