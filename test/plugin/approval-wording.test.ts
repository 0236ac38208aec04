/** The plugin explains an approval that is waited for: the status names it, and a condition words what it is for. */
import { describe, expect, test } from 'vitest';
import type { EtcdCluster } from '../../src/api/schemas/types.ts';
import { consentTo } from '../../src/planner/checks/consent.ts';
import { parseCommandLine } from '../../src/plugin/arguments/parse.ts';
import { approveWords, waitingApproval } from '../../src/plugin/requests/waiting-approval.ts';
import { explanationOf } from '../../src/plugin/views/explain.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

/** A cluster of which the planner says that it awaits this approval. */
function waitingFor(
  operation: 'replaceMember' | 'upgradeCluster',
  ids: readonly string[],
  why: string,
): EtcdCluster {
  const answer = consentTo(
    { workflowState: {}, now: 0 },
    { operation, ids },
    { reason: 'NotProvedLost', message: why },
  );
  if (!('obstacle' in answer)) throw new Error('nobody approved');
  const { message } = answer.obstacle;
  const condition = {
    type: 'Progressing',
    status: 'False',
    reason: 'AwaitingApproval',
    message,
    lastTransitionTime: '2026-11-23T11:00:00Z',
  } as const;
  return {
    apiVersion: 'etcd.database.coreos.com/v1beta2',
    kind: 'EtcdCluster',
    metadata: { name: 'example', namespace: 'shop', uid: '0b7e6e34', generation: 1 },
    spec: {},
    status: { observedGeneration: 1, conditions: [condition], awaitedApproval: { operation, ids: [...ids] } },
  };
}

describe('an approval that the planner asks for', () => {
  test.each([
    ['replaceMember', ['8e9e05c5']],
    ['upgradeCluster', ['begin', '3.5.9', '3.6.16']],
    ['replaceMember', ['a"}b', 'c d', "e'f"]],
  ] as const)('%s %j is explained as the command that approves exactly this', (operation, ids) => {
    const cluster = waitingFor(operation, ids, 'it would lose {its} volume');
    expect(waitingApproval(cluster)).toEqual({ operation, ids, what: 'it would lose {its} volume' });
    const { waitsFor } = explanationOf(cluster, [], { namespace: 'shop' });
    expect(waitsFor).toMatchObject([{ reason: 'AwaitingApproval', message: 'it would lose {its} volume' }]);
    const { command, words, flags } = parseCommandLine(approveWords('example', { operation, ids }));
    expect([command, words, flags.value('operation'), flags.all('id')]).toEqual([
      'approve',
      ['example'],
      operation,
      ids,
    ]);
  });

  test('as the operator writes it into the status: a supervised upgrade that is to begin', async () => {
    const spec = { size: 3, version: '3.5.35', upgrade: { strategy: 'Supervised' } } as const;
    const world = new OperatorWorld({ spec, storageClass: true });
    await world.run();
    await world.run();
    world.now += 60_000;
    const wanted = { spec: { version: '3.6.16' } };
    await world.kube.as('kubectl').patch(world.resource, wanted, { type: 'merge' });
    const { decision } = await world.run();
    const cluster = (await world.kube.get(world.resource)) as unknown as EtcdCluster;
    expect(decision).toMatchObject({ consent: { operation: 'upgradeCluster' } });
    expect(waitingApproval(cluster)).toEqual({
      ...(decision.kind === 'blocked' && decision.consent),
      what: expect.stringContaining(
        'the upgrade from 3.5.35 to 3.6.16 is supervised and needs approval to begin; no backup',
      ),
    });
    const { waitsFor } = explanationOf(cluster, [], { namespace: 'shop' });
    // Other conditions repeat the message.
    expect(waitsFor.filter(({ message }) => message.includes('supervised'))).toHaveLength(1);
    expect(waitsFor.flatMap(({ commands }) => commands.map(({ line }) => line))).toContain(
      'kubectl etcd approve example --operation upgradeCluster --id begin --id 3.5.35 --id 3.6.16 -n shop',
    );
  });

  test('the line can be pasted into a shell', () => {
    const cluster = waitingFor('replaceMember', ['8e9e05c5', "it's"], 'why');
    const [reason] = explanationOf(cluster, [], { namespace: 'shop' }).waitsFor;
    expect(reason?.commands[0]?.line).toBe(
      "kubectl etcd approve example --operation replaceMember --id 8e9e05c5 --id 'it'\\''s' -n shop",
    );
  });

  test('a condition that says something else is shown as it is, with the same command', () => {
    const cluster = waitingFor('replaceMember', ['8e9e05c5'], 'why');
    const [condition] = cluster.status?.conditions ?? [];
    if (condition === undefined) throw new Error('there is a condition');
    const other = {
      ...cluster,
      status: { ...cluster.status, conditions: [{ ...condition, message: 'ask bob' }] },
    };
    expect(explanationOf(other, [], { namespace: 'shop' }).waitsFor[0]).toMatchObject({
      message: 'ask bob',
      commands: [
        { line: 'kubectl etcd approve example --operation replaceMember --id 8e9e05c5 -n shop' },
        {},
      ],
    });
  });

  test('a condition without the approval, as an older operator writes it, is shown as it is', () => {
    const cluster = waitingFor('replaceMember', ['8e9e05c5'], 'why');
    const { awaitedApproval: _, ...status } = cluster.status ?? {};
    const older = { ...cluster, status };
    expect(waitingApproval(older)).toBeUndefined();
    const [reason] = explanationOf(older, [], { namespace: 'shop' }).waitsFor;
    expect(reason?.message).toContain('send the signal approve with');
  });
});
