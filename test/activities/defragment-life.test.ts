/** Defragmentations from end to end on a world in memory. */
import { describe, expect, it } from 'vitest';
import {
  ANNOTATION_DEFRAGMENTATION_BEGUN,
  ANNOTATION_MAINTENANCE,
  LABEL_CLIENTS,
} from '../../src/api/names.ts';
import { EtcdError } from '../../src/etcd/port.ts';
import { condition, created, edit, leader } from '../worlds/living-cluster.ts';
import type { OperatorWorld } from '../worlds/operator-world.ts';
import { poll } from '../stack/poll.ts';
import { Users } from '../worlds/users.ts';

const LONG = { timeout: 600_000 };
const MEMBERS = ['example-0', 'example-1', 'example-2'];
const GIB = 1024 ** 3;

const processOf = (world: OperatorWorld, member: string) => {
  const status = world.kube.peek(world.pod(member))?.['status'] as { readonly podIP?: string } | undefined;
  return world.etcd.process(status?.podIP ?? '');
};

/** A cluster that has been quiet for long, two thirds of whose files are free. */
async function fragmented(): Promise<OperatorWorld> {
  const world = await created();
  world.now += 60_000;
  for (const member of MEMBERS)
    Object.assign(processOf(world, member), { dbSize: 1.2 * GIB, dbFree: 0.8 * GIB });
  return world;
}

/** The kubelet ends a member that is being defragmented, and starts it again with the file that it had. */
function endOver(world: OperatorWorld, member: string): never {
  const { dbSize, dbFree } = processOf(world, member);
  world.kubelet.restart(member);
  world.kubelet.settle();
  Object.assign(processOf(world, member), { dbSize, dbFree });
  throw new EtcdError('unreachable', 'connection reset by peer');
}

const messages = (world: OperatorWorld) =>
  world.events.filter(({ reason }) => reason === 'MemberDefragmented').map(({ message }) => message);

describe('a defragmentation', LONG, () => {
  it('that a user requests reaches every member once, the leader last, and leads clients away from each', async () => {
    const world = await fragmented();
    const first = leader(world);
    const users = new Users(world);
    const away: string[] = [];
    world.kube.intercept(({ verb, kind, name, body }) => {
      const label = (body as { metadata?: { labels?: Record<string, string> } } | undefined)?.metadata
        ?.labels;
      if (verb === 'patch' && kind === 'Pod' && label?.[LABEL_CLIENTS] === 'withdrawn') away.push(name ?? '');
    });
    users.ask('defragment');
    await users.run();
    await users.run();
    expect(users.heard).toEqual(['done: defragmented']);
    expect(MEMBERS.map(member => processOf(world, member).dbFree)).toEqual([0, 0, 0]);
    expect(messages(world)).toHaveLength(3);
    expect(messages(world).at(-1)).toMatch(
      new RegExp(`^${first}: the file has 409.6 MiB, 1228.8 MiB before; it took [0-9.]+ s$`),
    );
    expect(away.toSorted()).toEqual(MEMBERS);
    for (const pod of world.kube.all('Pod')) expect(pod.metadata.labels?.[LABEL_CLIENTS]).toBe('admitted');
    expect(world.kube.all('PodDisruptionBudget')[0]?.['spec']).toMatchObject({ minAvailable: 2 });
    expect(world.cluster.status.lastOperation).toMatchObject({
      type: 'defragmentMembers',
      outcome: 'Succeeded',
    });
    expect(condition(world, 'Healthy')?.status).toBe('True');
  });

  it('of one member leaves the others as they are', async () => {
    const world = await fragmented();
    const users = new Users(world);
    users.ask('defragment', 'example-1');
    await users.run();
    await users.run();
    expect(MEMBERS.map(member => processOf(world, member).dbFree > 0)).toEqual([true, false, true]);
  });

  it('by schedule begins at its time and ends with members that have room', async () => {
    const world = await fragmented();
    world.now = Date.parse('2030-01-05T01:50:00Z');
    await edit(world, { maintenance: { defragment: { schedule: '0 2 * * *' } } });
    await world.run();
    expect(messages(world)).toEqual([]);
    world.now = Date.parse('2030-01-05T02:01:00Z');
    await world.run();
    await world.run();
    expect(messages(world)).toHaveLength(3);
    await world.run();
    expect(messages(world)).toHaveLength(3);
  });

  it('of a file that has nothing to free stops nobody', async () => {
    const world = await created();
    world.now += 60_000;
    const users = new Users(world);
    users.ask('defragment', 'example-1');
    await users.run();
    await users.run();
    expect(messages(world)).toEqual(['example-1: nothing to free in 0.0 MiB']);
    expect(users.heard).toEqual(['done: defragmented']);
  });

  it('waits until a backup has been read from the member', async () => {
    const world = await fragmented();
    const users = new Users(world);
    const hold = (holder: string | null) => {
      const maintenance = holder && JSON.stringify({ holder, renewed: new Date(world.now).toISOString() });
      const metadata = { annotations: { [ANNOTATION_MAINTENANCE]: maintenance } };
      return world.kube.as('etcd-operator').patch(world.pod('example-1'), { metadata }, { type: 'merge' });
    };
    await hold('backup nightly');
    users.ask('defragment', 'example-1');
    const run = users.run();
    await poll(() =>
      Promise.resolve(condition(world, 'Progressing')?.message?.startsWith('defragment') === true),
    );
    const untilNow = processOf(world, 'example-1').dbFree;
    await hold(null);
    await run;
    expect(untilNow).toBeGreaterThan(0);
    expect(processOf(world, 'example-1').dbFree).toBe(0);
  });

  it('that ends its member is not repeated until an hour later, and the request says why', async () => {
    const world = await fragmented();
    const begun: string[] = [];
    world.etcd.defragmenting = ({ name }) => {
      begun.push(name);
      endOver(world, name);
    };
    const users = new Users(world);
    users.ask('defragment', 'example-1');
    await users.run();
    await users.run();
    expect(begun).toEqual(['example-1']);
    expect(users.heard).toEqual([
      expect.stringMatching(/^refused: example-1 ended while it was defragmented, which had begun at /),
    ]);
    users.ask('defragment');
    await users.run();
    expect(begun).toEqual(['example-1']);
    world.now += 3_600_000;
    world.etcd.defragmenting = ({ name }) => void begun.push(name);
    users.ask('defragment', 'example-1');
    await users.run();
    await users.run();
    expect(begun).toEqual(['example-1', 'example-1']);
    expect(users.heard.at(-1)).toBe('done: defragmented');
    expect(
      world.kube.peek(world.pod('example-1'))?.metadata.annotations?.[ANNOTATION_DEFRAGMENTATION_BEGUN],
    ).toBeUndefined();
  });

  it('that ends its member near the quota is said in Progressing, and begun once', async () => {
    const world = await fragmented();
    for (const member of MEMBERS)
      Object.assign(processOf(world, member), { dbSize: 1.9 * GIB, dbFree: 1.5 * GIB });
    const begun: string[] = [];
    world.etcd.defragmenting = ({ name }) => {
      begun.push(name);
      endOver(world, name);
    };
    await edit(world, { maintenance: { defragment: {} } });
    await world.run();
    await world.run();
    expect(begun).toHaveLength(1);
    expect(condition(world, 'Progressing')).toMatchObject({
      status: 'False',
      reason: 'Blocked',
      message: expect.stringContaining(`${begun[0]} ended while it was defragmented`) as string,
    });
  });

  it('after which a member has lost a revision fails for good, and is said', async () => {
    const world = await fragmented();
    for (const member of MEMBERS)
      Object.assign(processOf(world, member), { dbSize: 1.9 * GIB, dbFree: 1.5 * GIB });
    const [etcd] = world.etcd.clusters;
    if (etcd !== undefined) etcd.revision = 90;
    world.etcd.defragmenting = ({ cluster }) => void (cluster.revision -= 3);
    await edit(world, { maintenance: { defragment: {} } });
    await expect(world.drive({}, { failure: true })).rejects.toMatchObject({
      type: 'RevisionLost',
      nonRetryable: true,
      message: expect.stringMatching(
        /^example-\d reads revision 87 after its defragmentation, and read 90 before: it may have lost writes that were acknowledged\. .*docs\/operations\/corruption\.md/,
      ) as string,
    });
    expect(world.events.at(-1)).toMatchObject({ type: 'Warning', reason: 'RevisionLost' });
  });

  it('after which a member has lost a revision is not tried again unseen: Progressing says why it failed', async () => {
    const world = await fragmented();
    const [etcd] = world.etcd.clusters;
    if (etcd !== undefined) etcd.revision = 90;
    world.etcd.defragmenting = ({ cluster }) => {
      cluster.revision -= 3;
      world.etcd.defragmenting = () => {};
    };
    const said: string[] = [];
    world.kube.intercept(({ verb, kind, body }) => {
      if (verb !== 'get' && kind === 'EtcdCluster') said.push(JSON.stringify(body ?? ''));
    });
    const users = new Users(world);
    users.ask('defragment', 'example-1');
    await users.run();
    await users.run();
    expect(
      said.filter(text => text.includes('reads revision 87') && text.includes('"Progressing"')),
    ).not.toEqual([]);
  });

  it('ends the same when the operator is killed at any of its calls', async () => {
    const undisturbed = await fragmented();
    const start = undisturbed.calls;
    const whole = new Users(undisturbed);
    whole.ask('defragment');
    await whole.run();
    for (let at = 1; at <= undisturbed.calls - start; at += 13) {
      const world = await fragmented();
      const users = new Users(world);
      users.ask('defragment');
      world.kill({ at: world.calls + at, arrives: () => at % 2 === 0 });
      await users.run();
      await users.run();
      const left = MEMBERS.map(member => processOf(world, member).dbFree);
      expect(left, `killed at call ${at}`).toEqual([0, 0, 0]);
      expect(users.heard).toEqual(['done: defragmented']);
      for (const pod of world.kube.all('Pod')) expect(pod.metadata.labels?.[LABEL_CLIENTS]).toBe('admitted');
      expect(world.kube.all('PodDisruptionBudget')[0]?.['spec']).toMatchObject({ minAvailable: 2 });
    }
  });
});
