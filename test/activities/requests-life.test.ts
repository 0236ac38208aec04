/** What users ask for while a cluster runs, from end to end on a world in memory. */
import { describe, expect, it } from 'vitest';
import type { EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import { condition, leader, podUids, voters } from '../worlds/living-cluster.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';
import { Users } from '../worlds/users.ts';

const LONG = { timeout: 120_000 };

async function created(spec: EtcdClusterSpec = {}, storageClass = true) {
  const world = new OperatorWorld({ spec: { size: 3, version: '3.6.16', ...spec }, storageClass });
  await world.run();
  await world.run();
  return { world, users: new Users(world) };
}

/** The event about the removal of this member. */
function removal(world: OperatorWorld, member: string) {
  return world.events.find(({ message }) => message.startsWith(`removed ${member} `));
}

/** What there is of the cluster, by its ids. */
function inventory(world: OperatorWorld): unknown {
  const [etcd] = world.etcd.clusters;
  const objects = [...world.kube.all('Pod'), ...world.kube.all('PersistentVolumeClaim')];
  return {
    members: etcd?.rows.map(({ id, isLearner }) => ({ id, isLearner })),
    leader: etcd?.leaderId,
    objects: objects.map(({ metadata }) => metadata.uid),
  };
}

/** The member's process is there and answers nobody. */
function isolate(world: OperatorWorld, member: string): void {
  const pod = world.kube.peek(world.pod(member));
  world.etcd.set((pod?.['status'] as { podIP?: string } | undefined)?.podIP ?? '', 'isolated');
}

describe('replaceMember', LONG, () => {
  it('of a healthy member adds before it removes, and never has fewer members than asked for', async () => {
    const { world, users } = await created();
    const [healthy = ''] = voters(world).filter(name => name !== leader(world));
    users.ask('replaceMember', healthy);
    await users.step();
    expect(users.heard).toEqual([
      `accepted: replaceMember ${healthy} is accepted; "kubectl etcd explain" and the query plan show its progress`,
    ]);
    await users.run();
    expect(users.steps).toEqual([
      'applyObjects',
      'addLearner',
      'createMember',
      'sealMembers',
      'promoteLearner',
      'stopMember',
      'removeMember',
      'retireMember',
      'applyObjects',
    ]);
    expect(users.heard).toEqual([`done: ${healthy} was replaced`]);
    expect(voters(world)).toHaveLength(3);
    expect(voters(world)).toContain('example-3');
    expect(voters(world)).not.toContain(healthy);
    expect(world.names('Pod')).toEqual(voters(world));
    expect(world.names('PersistentVolumeClaim')).toEqual(voters(world));
    const { lastOperation, replacements } = world.cluster.status;
    expect(lastOperation).toMatchObject({ type: 'replaceMember', outcome: 'Succeeded' });
    expect(replacements).toBeUndefined();
  });

  it('does not count the member that is added first as one too many for an upgrade', async () => {
    const { world, users } = await created({ version: '3.6.15' });
    const members = () => world.etcd.clusters[0]?.rows.length ?? 0;
    await world.edit({ version: '3.6.16' });
    while ((world.cluster.status.targetVersion ?? '') === '') await users.step();
    const [healthy = ''] = voters(world).filter(name => name !== leader(world));
    users.ask('replaceMember', healthy);
    const said: string[] = [];
    while (members() === 3 && said.length < 40) {
      await users.step();
      said.push(condition(world, 'Upgrading')?.message ?? '');
    }
    await users.step();
    said.push(condition(world, 'Upgrading')?.message ?? '');
    expect(members()).toBe(4);
    expect(said.at(-1)).toContain('from 3.6.15 to 3.6.16');
    expect(said.at(-1)).not.toContain('spec.size');
  });

  it('of the leader has it hand over first, and keeps its claim when storage.retain says so', async () => {
    const { world, users } = await created({ storage: { retain: 'Retain' } });
    const old = leader(world);
    users.ask('replaceMember', old);
    await users.run();
    expect(users.steps.slice(-5, -1)).toEqual(['moveLeader', 'stopMember', 'removeMember', 'retireMember']);
    expect(voters(world)).not.toContain(old);
    expect(world.names('PersistentVolumeClaim')).toContain(old);
    expect(world.names('Pod')).not.toContain(old);
  });

  it('of the only member works too', async () => {
    const { world, users } = await created({ size: 1 });
    users.ask('replaceMember', 'example-0');
    await users.run();
    expect(voters(world)).toEqual(['example-1']);
  });

  it('of a member that is proved dead waits for no grace and no budget', async () => {
    const { world, users } = await created({ repair: { maxReplacementsPerHour: 0 } });
    await world.kube.as('kubectl').delete(world.claim('example-1'));
    await world.kube.as('kubectl').delete(world.pod('example-1'));
    world.kubelet.settle();
    expect((await users.run()).decision).toMatchObject({ reason: 'ReplacementBudget' });
    users.ask('replaceMember', 'example-1');
    await users.run();
    expect(voters(world)).toEqual(['example-0', 'example-2', 'example-3']);
    expect(world.cluster.status.replacements).toMatchObject([
      { member: 'example-1', replacedBy: 'example-3' },
    ]);
    expect(removal(world, 'example-1')?.reason).toBe('Replacing Dead Member');
  });

  it('of a member that is not well asks once more, naming its id, and keeps its volume', async () => {
    const { world, users } = await created();
    const [lost = ''] = voters(world).filter(name => name !== leader(world));
    isolate(world, lost);
    users.ask('replaceMember', lost);
    const { decision } = await users.run();
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'NotProvedLost' });
    expect(voters(world)).toContain(lost);
    const consent = decision.kind === 'blocked' ? decision.consent : undefined;
    const approval = { id: 1, by: 'ana', expiresAt: world.now + 3_600_000, operation: '', ids: [] };
    users.said = { approvals: [{ ...approval, ...consent }] };
    await users.run();
    expect(voters(world)).toHaveLength(3);
    expect(voters(world)).not.toContain(lost);
    expect(world.names('Pod')).toEqual(voters(world));
    expect(world.names('PersistentVolumeClaim')).toContain(lost);
    expect(world.cluster.status.replacements).toMatchObject([{ member: lost }]);
    // Nobody observed that it is dead.
    expect(removal(world, lost)).toMatchObject({
      reason: 'Member Removed',
      message: expect.stringContaining('requested its replacement without proof that its data is lost'),
    });
  });

  it('waits while another member is not well', async () => {
    const { world, users } = await created();
    const [one = '', other = ''] = voters(world).filter(name => name !== leader(world));
    users.ask('replaceMember', one);
    isolate(world, other);
    const { decision } = await users.run();
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'MembersUnhealthy' });
    expect(voters(world)).toHaveLength(3);
  });

  it('taken back while its learner catches up leaves the members as they were', async () => {
    const { world, users } = await created();
    const before = voters(world);
    users.ask('replaceMember', 'example-1');
    for (let step = 0; step < 3; step += 1) await users.step();
    expect(users.steps).toEqual(['applyObjects', 'addLearner', 'createMember']);
    users.takeBack();
    await users.run();
    expect(voters(world)).toEqual(before);
    expect(world.names('Pod')).toEqual(before);
    expect(world.names('PersistentVolumeClaim')).toEqual(before);
  });

  it('meets a spec that shrinks meanwhile: the member that was named is the one that goes', async () => {
    const { world, users } = await created({ size: 5 });
    const [named = ''] = voters(world).filter(name => name !== leader(world));
    users.ask('replaceMember', named);
    await world.kube.as('kubectl').patch(world.resource, { spec: { size: 3 } }, { type: 'merge' });
    await users.run();
    expect(voters(world)).toHaveLength(3);
    expect(voters(world)).not.toContain(named);
  });

  it('paused at any step waits there, and continues with the same plan; whom it has stopped it starts again', async () => {
    const { world, users } = await created();
    users.ask('replaceMember', 'example-1');
    let hasPausedAfterStop = false;
    let hasPausedAfterRaise = false;
    for (let steps = 0; !users.heard.some(said => said.startsWith('done')); steps += 1) {
      await users.step();
      const isStop = users.steps.at(-1) === 'stopMember';
      if (isStop && hasPausedAfterStop) continue;
      hasPausedAfterStop ||= isStop;
      // A pause lowers the budget that was raised for the learner, or a drain would wait for as long.
      const isRaise = users.steps.at(-1) === 'applyObjects';
      if (isRaise && hasPausedAfterRaise) continue;
      hasPausedAfterRaise ||= isRaise;
      users.said = { paused: { by: 'ana' } };
      world.kubelet.settle();
      const before = inventory(world);
      await users.run();
      const { decision } = await users.run();
      expect(decision.kind === 'blocked' ? decision.reason : 'done').toMatch(/^Paused$|^done$/);
      const isAsBefore = JSON.stringify(inventory(world)) === JSON.stringify(before);
      const isStarted = world.names('Pod').includes('example-1');
      expect(isStop ? isStarted && !isAsBefore : isAsBefore).toBe(true);
      users.said = {};
      expect(steps).toBeLessThan(20);
    }
    expect(voters(world)).toEqual(['example-0', 'example-2', 'example-3']);
    expect(users.steps.filter(step => step === 'stopMember')).toHaveLength(2);
    expect(users.steps).toContain('restartMember');
  });

  it('of two members replaces one after the other', async () => {
    const { world, users } = await created();
    users.ask('replaceMember', 'example-0');
    users.ask('replaceMember', 'example-1');
    await users.run();
    // In between, with nothing else to do, the budget was lowered; it is raised once more after a pause.
    await users.run();
    expect(voters(world)).toEqual(['example-2', 'example-3', 'example-4']);
  });

  it.each([
    ['nobody', 'refused: nobody is not a member; the members are example-0, example-1, example-2'],
    ['', 'refused: the request names no member'],
  ])('of "%s" is refused', async (target, message) => {
    const { world, users } = await created();
    users.ask('replaceMember', target);
    await users.run();
    expect(users.heard).toEqual([message]);
    expect(users.steps).toEqual([]);
    expect(voters(world)).toHaveLength(3);
  });
});

describe('moveLeader', LONG, () => {
  it('hands leadership over, once', async () => {
    const { world, users } = await created();
    const [to = ''] = voters(world).filter(name => name !== leader(world));
    users.ask('moveLeader', to);
    await users.run();
    expect(leader(world)).toBe(to);
    expect(users.steps).toEqual(['moveLeader']);
    users.ask('moveLeader', to);
    await users.run();
    expect(users.heard.at(-1)).toBe(`done: ${to} is already the leader`);
    expect(users.steps).toEqual(['moveLeader']);
  });

  it('to a member that is not seen healthy is refused', async () => {
    const { world, users } = await created();
    const [to = ''] = voters(world).filter(name => name !== leader(world));
    isolate(world, to);
    users.ask('moveLeader', to);
    await users.run();
    expect(users.heard).toEqual([
      `refused: ${to} is not known to be healthy, so it cannot become the leader`,
    ]);
  });
});

describe('restart', LONG, () => {
  it('of all members is a rollout: one at a time, the leader last, on the same volumes', async () => {
    const { world, users } = await created();
    const before = podUids(world);
    const claims = world.kube.all('PersistentVolumeClaim').map(claim => claim.metadata.uid);
    users.ask('restart');
    await users.run();
    expect(users.steps.filter(kind => kind === 'stopMember')).toHaveLength(3);
    expect(users.steps.indexOf('moveLeader')).toBeGreaterThan(users.steps.lastIndexOf('awaitMembers') - 3);
    expect(podUids(world).filter(uid => before.includes(uid))).toEqual([]);
    expect(world.kube.all('PersistentVolumeClaim').map(claim => claim.metadata.uid)).toEqual(claims);
    expect(users.heard.at(-1)).toBe('done: restarted');
    const steps = users.steps.length;
    await users.run();
    expect(users.steps).toHaveLength(steps);
  });

  it('of one member touches no other', async () => {
    const { world, users } = await created();
    const before = podUids(world);
    const [one = ''] = voters(world).filter(name => name !== leader(world));
    users.ask('restart', one);
    await users.run();
    expect(podUids(world).filter(uid => before.includes(uid))).toHaveLength(2);
    expect(voters(world)).toHaveLength(3);
  });

  it('of a member that does not answer needs only the others to be well', async () => {
    const { world, users } = await created();
    const [one = ''] = voters(world).filter(name => name !== leader(world));
    isolate(world, one);
    world.kubelet.settle();
    const [uid] = [world.kube.peek(world.pod(one))?.metadata.uid];
    users.ask('restart', one);
    await users.run();
    expect(podUids(world)).not.toContain(uid);
    expect(users.heard.at(-1)).toBe('done: restarted');
  });

  it('touches no member while the members do not hold the same keys', async () => {
    const { world, users } = await created();
    const before = podUids(world);
    for (const etcd of world.etcd.clusters[0]?.processes ?? []) etcd.corrupt = etcd.name === 'example-1';
    users.ask('restart', 'example-2');
    expect((await users.run()).decision).toMatchObject({ kind: 'blocked', reason: 'CorruptMember' });
    expect(podUids(world)).toEqual(before);
  });

  it('of ephemeral members is refused', async () => {
    const { world, users } = await created({}, false);
    const before = podUids(world);
    users.ask('restart');
    await users.run();
    expect(users.heard).toEqual([
      'refused: the members store their data in their pods: a restart would delete the data of the member',
    ]);
    expect(podUids(world)).toEqual(before);
  });
});

describe('abort', LONG, () => {
  it('of scaling up takes the learner back, with its pod and its claim, and stays so', async () => {
    const { world, users } = await created();
    await world.kube.as('kubectl').patch(world.resource, { spec: { size: 5 } }, { type: 'merge' });
    while (!users.steps.includes('createMember')) await users.step();
    const generation = world.cluster.metadata.generation ?? 0;
    users.said = { aborted: { operation: 'scaleCluster', generation, by: 'ana', reason: 'too soon' } };
    const { decision } = await users.run();
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'Aborted' });
    expect(voters(world)).toEqual(['example-0', 'example-1', 'example-2']);
    expect(world.names('Pod')).toEqual(voters(world));
    expect(world.names('PersistentVolumeClaim')).toEqual(voters(world));
    expect(world.events.map(event => event.message)).toContainEqual(
      expect.stringMatching(/^removed example-3 .*: scaleCluster was aborted by ana \(too soon\)$/),
    );
    users.said = {};
    await users.run();
    expect(voters(world)).toHaveLength(5);
  });
});
