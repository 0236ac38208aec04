/** An incarnation that a restore put aside, in memory: what is kept of it, and what going back to it comes to. */
import { describe, expect, it } from 'vitest';
import { askedBack, expectGoneBack, marksOf, restored, runningNow } from '../worlds/gone-back.ts';
import { openServices } from '../worlds/open-services.ts';
import { NEW, OLD } from '../worlds/restored.ts';

/** The members of a second restore. */
const LAST = ['example-6', 'example-7', 'example-8'];

describe('an incarnation that a restore put aside', () => {
  it('says on each of its claims what its cluster was', async () => {
    const { world, old } = await restored();
    for (const name of OLD) {
      const [restore, note = ''] = marksOf(world, name);
      expect(restore).toBe('back');
      expect(JSON.parse(note)).toMatchObject({
        token: old.token,
        clusterID: old.clusterID,
        revision: 4_711,
        members: OLD.map(member => ({ name: member, id: expect.any(String) })),
      });
    }
    for (const name of NEW) expect(marksOf(world, name)).toEqual([undefined, undefined]);
  });
});

describe('going back to it', () => {
  it('starts its members on their own claims, and keeps what ran until then', async () => {
    const { world, old, now } = await restored();
    world.goBack(old.token);
    await world.settle();
    expectGoneBack(world);
    expect(runningNow(world)).toEqual(old);
    expect(world.restore).toMatchObject({
      source: { location: `incarnation://shop/${old.token}`, revision: 4_711, clusterID: old.clusterID },
      givenUp: { token: now.token, clusterID: now.clusterID, revision: 1_000_000_042 },
      clusterID: old.clusterID,
      revision: 4_711,
      previousIncarnation: { claims: NEW },
    });
    expect(world.cluster.status.previousIncarnation).toMatchObject({ clusterID: now.clusterID, claims: NEW });
    expect(world.cluster.status.history?.[0]).toMatchObject({
      type: 'restoreCluster',
      outcome: 'Succeeded',
      requestedBy: 'ada',
    });
  });

  it('keeps clients out until every member is there', async () => {
    const world = await askedBack();
    const open: string[] = [];
    world.kube.intercept(call => {
      if (call.verb !== 'list' || call.kind !== 'Pod') return;
      const { incarnation } = world.cluster.status;
      const isUnder = incarnation?.restore !== undefined && incarnation.restore.completedAt === undefined;
      if (isUnder && openServices(world).includes('example-client') && world.names('Pod').length < 3)
        open.push(world.names('Pod').join());
    });
    await world.settle();
    expectGoneBack(world);
    expect(open).toEqual([]);
  });

  it('leaves the way forward open: what was given up is gone back to in turn', async () => {
    const { world, old, now } = await restored();
    world.goBack(old.token);
    await world.settle();
    world.goBack(now.token, {}, 'forward');
    await world.settle();
    expect(runningNow(world)).toEqual(now);
    expect(world.restore).toMatchObject({ phase: 'Succeeded', revision: 1_000_000_042 });
    expect(world.names('Pod')).toEqual(NEW);
    expect(world.names('PersistentVolumeClaim')).toEqual([...OLD, ...NEW]);
    for (const name of OLD) expect(marksOf(world, name)[0]).toBe('forward');
  });

  it('goes by the token when several are kept', async () => {
    const { world, old, now } = await restored();
    world.request({ confirmClusterID: now.clusterID }, 'again');
    await world.settle();
    const last = runningNow(world);
    world.goBack(old.token);
    await world.settle();
    expectGoneBack(world, [...NEW, ...LAST]);
    for (const name of NEW) expect(marksOf(world, name)[0]).toBe('again');
    for (const name of LAST) expect(marksOf(world, name)[0]).toBe('return');
    expect(runningNow(world)).toEqual(old);
    world.goBack(now.token, {}, 'between');
    await world.settle();
    expect(runningNow(world)).toEqual(now);
    expect(world.names('Pod')).toEqual(NEW);
    world.goBack(last.token, {}, 'last');
    await world.settle();
    expect(runningNow(world)).toEqual(last);
    expect(world.names('Pod')).toEqual(LAST);
  });

  it.each(['fenceMembers', 'switchIncarnation', 'restartMember', 'ensureObjects'])(
    'is undone when it is aborted before %s',
    async kind => {
      const { world, old, now } = await restored();
      world.goBack(old.token);
      await world.settleUntil(kind);
      await world.settle(world.abort());
      await world.settle();
      expect(world.restore).toMatchObject({ phase: 'Failed', succeeded: false });
      expect(runningNow(world)).toEqual(now);
      expect(world.names('Pod')).toEqual(NEW);
      expect(world.names('PersistentVolumeClaim')).toEqual([...OLD, ...NEW]);
      for (const name of OLD) expect(marksOf(world, name)).toEqual([expect.any(String), expect.any(String)]);
      for (const name of NEW) expect(marksOf(world, name)).toEqual([undefined, undefined]);
      // The way back is as open as before.
      world.goBack(old.token, {}, 'again');
      await world.settle();
      expectGoneBack(world);
    },
  );

  it('is undone when its EtcdRestore is deleted before clients were let in', async () => {
    const { world, old, now } = await restored();
    world.goBack(old.token);
    await world.settleUntil('ensureObjects');
    expect(world.names('Pod')).toEqual(OLD);
    await world.deleteRestore();
    await world.runCluster();
    expect(runningNow(world)).toEqual(now);
    expect(world.names('Pod')).toEqual(NEW);
    expect(world.names('PersistentVolumeClaim')).toEqual([...OLD, ...NEW]);
  });

  it('is not undone any more when clients were let in', async () => {
    const { world, old } = await restored();
    world.goBack(old.token);
    await world.settleUntil('concludeRestore');
    expect(openServices(world)).toContain('example-client');
    await world.deleteRestore();
    await world.runCluster();
    expect(runningNow(world)).toEqual(old);
    expect(world.names('Pod')).toEqual(OLD);
    expect(world.cluster.status.incarnation?.restore?.completedAt).toBeDefined();
  });

  it('survives the loss of the status: what runs is not marked as kept', async () => {
    const { world, old } = await restored();
    world.goBack(old.token);
    await world.settle();
    world.kube.mutate(world.resource, object => void delete object['status']);
    await world.runCluster();
    expect(runningNow(world)).toEqual(old);
    expect(world.names('Pod')).toEqual(OLD);
  });

  it.each([
    ['another cluster is named', { confirmClusterID: 'abc' }, 'WrongClusterID', 'would be given up'],
    [
      'nothing is kept of it',
      { incarnation: { token: 'example-00000000-9' } },
      'IncarnationNotKept',
      'kept are',
    ],
  ])('is refused when %s', async (_, spec, reason, message) => {
    const { world, old, now } = await restored();
    world.goBack(old.token, spec);
    await world.settle();
    expect(world.restore).toMatchObject({ phase: 'Refused', refusal: { reason } });
    expect(world.restore.reason).toContain(message);
    expect(runningNow(world)).toEqual(now);
    expect(world.names('Pod')).toEqual(NEW);
  });

  it('is refused when fewer claims than a quorum are left', async () => {
    const { world, old, now } = await restored();
    for (const name of OLD.slice(0, 2)) await world.kube.as('kubectl').delete(world.claim(name));
    world.goBack(old.token);
    await world.settle();
    expect(world.restore).toMatchObject({ phase: 'Refused', refusal: { reason: 'IncarnationNotKept' } });
    expect(world.restore.reason).toContain('of the 3 voters of incarnation');
    expect(world.restore.reason).toContain(
      '1 have their claims, and 2 are a quorum (example-0: its claim is gone',
    );
    expect(runningNow(world)).toEqual(now);
  });

  it('is refused when the nodes of volumes that a quorum needs are gone', async () => {
    const { world, old, now } = await restored();
    for (const name of OLD.slice(0, 2)) world.pinVolume(name, 'node-of-old');
    world.goBack(old.token);
    await world.settle();
    expect(world.restore).toMatchObject({ phase: 'Refused', refusal: { reason: 'IncarnationNotKept' } });
    // Where it ran is known from its claim.
    expect(world.restore.reason).toMatch(/example-0: its volume is on node node-\d, which is gone/);
    expect(runningNow(world)).toEqual(now);
  });

  it('replaces a member whose claim is gone when a quorum is left', async () => {
    const { world, old } = await restored();
    await world.kube.as('kubectl').delete(world.claim('example-0'));
    world.goBack(old.token);
    await world.settle();
    expect(world.restore).toMatchObject({ phase: 'Succeeded' });
    expect(runningNow(world)).toEqual(old);
    expect(world.names('Pod')).toEqual(['example-1', 'example-2', 'example-6']);
  });

  it('is refused for data of a newer minor than spec.version', async () => {
    const { world, old } = await restored();
    for (const name of OLD)
      world.kube.mutate(world.claim(name), ({ metadata }) => {
        metadata.annotations = { ...metadata.annotations, 'etcd.database.coreos.com/data-version': '3.7.3' };
      });
    world.goBack(old.token);
    await world.settle();
    expect(world.restore).toMatchObject({ phase: 'Refused', refusal: { reason: 'VersionTooOld' } });
    expect(world.restore.reason).toContain('set spec.version to a release of 3.7 first');
  });
});
