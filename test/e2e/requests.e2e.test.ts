/** What users ask for with the real CLI, on a cluster that is written to all the while. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  awaitRunning,
  createNamespace,
  leaveNamespace,
  manifest,
  openWorld,
  podsOf,
  readCluster,
  type World,
} from '../stack/e2e.ts';
import { API_VERSION, REQUEST_KIND } from '../../src/api/names.ts';
import type { EtcdRequest } from '../../src/api/schemas/types.ts';
import { killOperators } from '../stack/operator-processes.ts';
import { runDrill } from '../stack/drill/drill.ts';
import { poll } from '../stack/poll.ts';

const NAMESPACE = 'requests';
const NAME = 'asked';
const AT = { namespace: NAMESPACE, name: NAME };
const WAIT = { timeoutMs: 180_000 };
let world: World;
let workflow: string;
/** Who creates EtcdRequests here: the admission policy lets nobody name another. */
let me: string;

beforeAll(async () => {
  world = await openWorld();
  await createNamespace(world, NAMESPACE);
  await world.kube.apply(manifest(NAMESPACE, NAME, { size: 3, version: '3.6.16' }));
  me = await world.stack.kubectl('auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}');
  workflow = (await awaitRunning(world, AT)).status?.workflowID ?? '';
});
afterAll(() => leaveNamespace(world, NAMESPACE));

/** `temporal workflow <what> -w <the cluster's> …`. */
function ask(what: readonly string[], name: string, argument: object): Promise<string> {
  const input = JSON.stringify({ by: 'ana', reason: 'a test', ...argument });
  return world.temporal('workflow', ...what, '-w', workflow, '--name', name, '-i', input);
}

function query(flag: '--type' | '--name', name: string): Promise<string> {
  return world.temporal('workflow', 'query', '-w', workflow, flag, name, '-o', 'json');
}

async function leader(): Promise<string> {
  return (await readCluster(world, NAMESPACE, NAME))?.status?.leader ?? '';
}

async function pods(): Promise<{ readonly name: string; readonly uid: string }[]> {
  const found = await podsOf(world, NAMESPACE, NAME);
  const there = found.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return there.map(({ metadata }) => ({ name: metadata.name, uid: metadata.uid ?? '' }));
}

async function follower(): Promise<string> {
  const leads = await leader();
  return (await pods()).find(({ name }) => name !== leads)?.name ?? '';
}

/** Until nobody waits for anything that was asked for. */
async function answered(): Promise<void> {
  await poll(async () => !(await query('--type', 'status')).includes('"requests"'), WAIT);
}

describe('the query plan', () => {
  test.each(['--type', '--name'] as const)(
    'answers with %s what comes next, also when nothing does',
    async flag => {
      // Members that were late to start are still to be sealed when the cluster is healthy.
      await poll(async () => (await query(flag, 'plan')).includes('nothing to do'), WAIT);
    },
  );
});

describe('asked for under load', () => {
  test('leadership is transferred', async () => {
    await runDrill({ world, at: AT, size: 3, title: 'moveLeader' }, async () => {
      const to = await follower();
      expect(await ask(['update', 'execute'], 'moveLeader', { to })).toContain('is accepted');
      await poll(async () => (await leader()) === to, WAIT);
    });
  });

  test('a healthy leader is replaced', async () => {
    const old = await leader();
    await runDrill({ world, at: AT, size: 3, title: 'replaceMember of the leader', lost: 1 }, async () => {
      expect(await ask(['update', 'execute'], 'replaceMember', { member: old })).toContain('is accepted');
      await answered();
    });
    expect((await pods()).map(({ name }) => name)).not.toContain(old);
    const { status } = (await readCluster(world, NAMESPACE, NAME)) ?? {};
    expect(status?.lastOperation).toMatchObject({ type: 'replaceMember', outcome: 'Succeeded' });
    expect(status?.replacements).toBeUndefined();
  });

  test('all members are restarted by a signal', async () => {
    const before = (await pods()).map(({ uid }) => uid);
    await runDrill({ world, at: AT, size: 3, title: 'restart' }, async () => {
      await ask(['signal'], 'restart', {});
      await poll(async () => (await pods()).every(({ uid }) => !before.includes(uid)), WAIT);
      await answered();
    });
  });
});

describe('refused', () => {
  test('what cannot be done is refused with the reason', async () => {
    const refusals = [
      ask(['update', 'execute'], 'replaceMember', { member: 'nobody' }),
      ask(['update', 'execute'], 'approve', { operation: 'replaceMember', ids: ['8e9e05c5'] }),
    ];
    const [member, approval] = await Promise.allSettled(refusals);
    expect(String((member as PromiseRejectedResult).reason)).toContain('nobody is not a member');
    expect(String((approval as PromiseRejectedResult).reason)).toContain('nothing waits for this approval');
  });
});

/** `kubectl create` of an EtcdRequest for this cluster. */
async function create(name: string, spec: object): Promise<void> {
  const metadata = { namespace: NAMESPACE, name };
  const of = { clusterRef: { name: NAME }, by: me, reason: 'a test', ...spec };
  await world.kube.create({ apiVersion: API_VERSION, kind: REQUEST_KIND, metadata, spec: of });
}

async function request(name: string): Promise<EtcdRequest | undefined> {
  const ref = { apiVersion: API_VERSION, kind: REQUEST_KIND, namespace: NAMESPACE, name };
  return (await world.kube.get(ref)) as unknown as EtcdRequest | undefined;
}

async function comesTo(name: string, phase: string): Promise<string> {
  await poll(async () => (await request(name))?.status?.phase === phase, WAIT);
  return (await request(name))?.status?.message ?? '';
}

describe('written as an EtcdRequest', () => {
  test('a pause holds without its object, also when its workflow is begun again, until a resume', async () => {
    await create('pause', { action: 'Pause', ttlSecondsAfterFinished: 0 });
    await poll(async () => (await request('pause')) === undefined, WAIT);
    const paused = () => readCluster(world, NAMESPACE, NAME);
    expect((await paused())?.status).toMatchObject({
      controlPaused: true,
      userRequests: { pause: { by: me, reason: 'a test' } },
    });
    await world.temporal('workflow', 'terminate', '-w', workflow, '--reason', 'a test');
    const before = (await pods()).map(({ uid }) => uid).toSorted();
    await create('held', { action: 'Restart' });
    expect(await comesTo('held', 'Accepted')).toContain('is accepted');
    expect((await paused())?.status?.controlPaused).toBe(true);
    await create('abort', { action: 'Abort' });
    expect(await comesTo('abort', 'Completed')).toContain('revoked: restart');
    expect(await comesTo('held', 'Aborted')).toContain(`by ${me}`);
    expect((await pods()).map(({ uid }) => uid).toSorted()).toEqual(before);
    await create('resume', { action: 'Resume' });
    expect(await comesTo('resume', 'Completed')).toBe('resumed');
    expect((await paused())?.status).not.toHaveProperty('userRequests');
  });

  test('a restart whose operator is killed when it was accepted happens once', async () => {
    const [target] = await pods();
    const seen = new Set([target?.uid]);
    await create('restart', { action: 'Restart', member: target?.name });
    const note = async () => {
      for (const { name, uid } of await pods()) if (name === target?.name) seen.add(uid);
    };
    await poll(async () => (await request('restart'))?.status?.phase === 'Accepted', {
      ...WAIT,
      intervalMs: 20,
    });
    killOperators(world);
    await poll(async () => {
      await note();
      return (await request('restart'))?.status?.phase === 'Completed';
    }, WAIT);
    expect((await request('restart'))?.status?.ids).toEqual([target?.uid]);
    await answered();
    await note();
    expect(seen.size).toBe(2);
  });

  test('what cannot be done, or names nothing that exists, is refused with the reason', async () => {
    await create('nobody', { action: 'ReplaceMember', member: 'nobody' });
    await create('missing', { action: 'Restart', clusterRef: { name: 'exmaple' } });
    const underWay = async () => (await readCluster(world, NAMESPACE, NAME))?.status?.operation;
    await poll(async () => (await underWay()) === undefined, WAIT);
    await create('nothing', { action: 'Abort' });
    expect(await comesTo('nobody', 'Refused')).toContain('nobody is not a member');
    expect(await comesTo('missing', 'Refused')).toBe('there is no EtcdCluster exmaple of namespace requests');
    expect(await comesTo('nothing', 'Refused')).toContain('nothing to abort');
  });
});
