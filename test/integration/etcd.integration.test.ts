/** The etcd port against real members of every minor that is supported, and of the oldest release that is. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { createEtcdPort } from '../../src/etcd/adapter.ts';
import { initialClusterId, initialMemberId } from '../../src/etcd/cluster-id.ts';
import type { EtcdMember, MemberTarget } from '../../src/etcd/port.ts';
import { EtcdProcessCluster } from '../stack/etcd-process.ts';

const DEADLINE_MS = 1_500;
/** How much later than its deadline a call may end on a busy machine. */
const SLACK_MS = 1_000;
const port = createEtcdPort({
  deadlines: { status: DEADLINE_MS, memberList: DEADLINE_MS, linearizableRead: DEADLINE_MS },
});

const opened: EtcdMember[] = [];
function dial(target: MemberTarget): EtcdMember {
  const member = port.member(target);
  opened.push(member);
  return member;
}
afterEach(() => {
  for (const member of opened.splice(0)) member.close();
});

/** What became of a call, and after how many milliseconds. */
async function timed<T>(call: Promise<T>): Promise<{ value?: T; code?: string; ms: number }> {
  const start = performance.now();
  try {
    const value = await call;
    return { value, ms: performance.now() - start };
  } catch (error) {
    return { code: (error as { code: string }).code, ms: performance.now() - start };
  }
}

function everyCall(member: EtcdMember): readonly Promise<{ readonly code?: string; readonly ms: number }>[] {
  return [timed(member.status()), timed(member.memberList()), timed(member.linearizableRead())];
}

const untilTrue = { timeout: 10_000, interval: 50 };

function openSockets(): number {
  return readdirSync('/proc/self/fd').filter(fd => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith('socket:');
    } catch {
      return false;
    }
  }).length;
}

const VERSIONS = ['3.5.3', '3.5.35', '3.6.16', '3.7.3'];
const clusters = new Map<string, EtcdProcessCluster>();
// All at once: each takes learners only five seconds after its members met.
beforeAll(async () => {
  const start = async (version: string) =>
    clusters.set(version, await EtcdProcessCluster.start({ version, size: 3 }));
  await Promise.all(VERSIONS.map(start));
});
afterAll(async () => {
  await Promise.all([...clusters.values()].map(cluster => cluster.stop()));
});

describe.each(VERSIONS)('etcd %s', version => {
  let cluster: EtcdProcessCluster;
  beforeAll(() => {
    const started = clusters.get(version);
    if (started === undefined) throw new Error(`etcd ${version} was not started`);
    cluster = started;
  });

  const target = (serial: number) => cluster.member(serial).target;

  test('members report the versions that they agreed on, and what their keys come to', async () => {
    const members = [0, 1, 2].map(serial => dial(target(serial)));
    const minor = `${version.split('.').slice(0, 2).join('.')}.0`;
    const knows = !version.startsWith('3.5');
    const said = { storage: knows ? minor : undefined, downgrade: knows ? '' : undefined };
    await vi.waitFor(async () => {
      const versions = await Promise.all(members.map(member => member.version()));
      expect(versions).toEqual(members.map(() => ({ server: version, cluster: minor, ...said })));
    }, untilTrue);
    const { revision } = (await members[0]?.linearizableRead()) ?? {};
    const hashes = await Promise.all(members.map(member => member.hashKv(revision ?? '')));
    expect(new Set(hashes.map(({ hash }) => hash)).size).toBe(1);
    expect(hashes[0]?.hash).toMatch(/^[0-9a-f]+$/);
    await expect(members[0]?.hashKv('999')).rejects.toMatchObject({ code: 'other' });
  });

  test('members and their cluster have the ids that token and URLs give them', async () => {
    const token = 'etcd-cluster'; // etcd's default.
    const urls = [0, 1, 2].map(serial => [cluster.member(serial).peerUrl]);
    const members = [0, 1, 2].map(serial => dial(target(serial)));
    await vi.waitFor(async () => {
      const statuses = await Promise.all(members.map(member => member.status()));
      const clusterId = initialClusterId(token, urls);
      expect(statuses.map(({ memberId }) => memberId)).toEqual(urls.map(url => initialMemberId(token, url)));
      expect(statuses.map(status => status.clusterId)).toEqual(members.map(() => clusterId));
    }, untilTrue);
  });

  test('members agree on who they are, and looking leaves the store at revision 1', async () => {
    const members = [0, 1, 2].map(serial => dial(target(serial)));
    const statuses = await Promise.all(members.map(member => member.status()));
    const lists = await Promise.all(members.map(member => member.memberList()));
    const reads = await Promise.all(members.map(member => member.linearizableRead()));

    expect(statuses.map(status => status.version)).toEqual([version, version, version]);
    expect(new Set(statuses.map(status => status.leaderId)).size).toBe(1);
    expect(statuses.every(status => status.errors.length === 0 && !status.isLearner)).toBe(true);
    expect(statuses.every(status => status.dbSize > 0 && status.dbSizeInUse > 0)).toBe(true);
    expect(statuses.every(status => BigInt(status.raftAppliedIndex) > 0n)).toBe(true);
    for (const list of lists) {
      expect(list.clusterId).toBe(statuses[0]?.clusterId);
      expect(list.members.map(row => row.id).toSorted()).toEqual(
        statuses.map(status => status.memberId).toSorted(),
      );
      expect(list.members.map(row => row.name).toSorted()).toEqual(['m0', 'm1', 'm2']);
      expect(list.members.find(row => row.name === 'm1')).toMatchObject({
        peerUrls: [cluster.member(1).peerUrl],
        clientUrls: [cluster.member(1).clientUrl],
        isLearner: false,
      });
    }
    expect(reads).toEqual([{ revision: '1' }, { revision: '1' }, { revision: '1' }]);
  });

  test('ids are written as etcd writes them', async () => {
    const { memberId, clusterId } = await dial(target(0)).status();
    expect(cluster.member(0).log).toContain(`"local-member-id":"${memberId}"`);
    expect(cluster.member(0).log).toContain(`"cluster-id":"${clusterId}"`);
  });

  test('a read through any member sees the last write', async () => {
    const before = await dial(target(2)).linearizableRead();
    await cluster.put('key', 'value');
    const after = await dial(target(2)).linearizableRead();
    expect(BigInt(after.revision)).toBe(BigInt(before.revision) + 1n);
  });

  test('a learner says what it is, and what it does not serve', async () => {
    const learner = dial((await cluster.addLearner()).target);
    await vi.waitFor(
      async () => expect(await learner.status()).toMatchObject({ isLearner: true }),
      untilTrue,
    );
    expect((await timed(learner.memberList())).code).toBe('learner');
    expect((await timed(learner.linearizableRead())).code).toBe('learner');
    const { members } = await dial(target(0)).memberList();
    expect(members.filter(row => row.isLearner).map(row => row.name)).toEqual(['m3']);
  });

  test('the leader hands over to the member that is named, and no other member can', async () => {
    const members = [0, 1, 2].map(serial => dial(target(serial)));
    const statuses = await Promise.all(members.map(member => member.status()));
    const led = statuses.findIndex(status => status.leaderId === status.memberId);
    const next = (led + 1) % 3;
    const to = statuses[next]?.memberId ?? '';
    await expect(members[next]?.moveLeader(to)).rejects.toMatchObject({ code: 'other' });
    await expect(members[led]?.moveLeader('1234')).rejects.toMatchObject({ code: 'other' });
    await members[led]?.moveLeader(to);
    await vi.waitFor(async () => {
      const after = await Promise.all(members.map(member => member.status()));
      expect(after.map(status => status.leaderId)).toEqual([to, to, to]);
    }, untilTrue);
  });

  test('a frozen member times out by itself, and delays no other', async () => {
    const members = [0, 1, 2].map(serial => dial(target(serial)));
    const frozen = cluster.member(2);
    await Promise.all(members.map(member => member.status()));
    frozen.freeze();
    try {
      const strangers = [dial(target(2)), ...members].map(member => timed(member.status()));
      const [unconnected, first, second, connected] = await Promise.all(strangers);
      expect([unconnected?.code, first?.code, second?.code, connected?.code]).toEqual([
        'timeout',
        undefined,
        undefined,
        'timeout',
      ]);
      expect(Math.max(unconnected?.ms ?? 0, connected?.ms ?? 0)).toBeLessThan(DEADLINE_MS + SLACK_MS);
      expect(Math.max(first?.ms ?? 0, second?.ms ?? 0)).toBeLessThan(DEADLINE_MS / 2);
    } finally {
      frozen.thaw();
    }
    await vi.waitFor(() => members[2]?.linearizableRead(), untilTrue);
  });

  test('a stopped member is unreachable at once, and found again on the same connection', async () => {
    const member = dial(target(2));
    await member.status();
    await cluster.member(2).stop();
    await vi.waitFor(async () => {
      expect(await timed(member.status())).toMatchObject({ code: 'unreachable' });
    }, untilTrue);
    const refused = await timed(dial(target(2)).status());
    expect(refused.code).toBe('unreachable');
    expect(refused.ms).toBeLessThan(DEADLINE_MS);
    cluster.member(2).start();
    await cluster.member(2).untilHealthy();
    const back = performance.now();
    await vi.waitFor(() => member.status(), untilTrue);
    expect(performance.now() - back).toBeLessThan(3_000);
  });

  test('without quorum a member still says so, and serves nothing that needs it', async () => {
    const members = [0, 1, 2].map(serial => dial(target(serial)));
    await Promise.all([cluster.member(1).stop(), cluster.member(2).stop()]);
    const survivor = members[0];
    if (survivor === undefined) throw new Error('no member was dialled');
    await vi.waitFor(async () => {
      expect(await survivor.status()).toMatchObject({
        leaderId: undefined,
        errors: ['etcdserver: no leader'],
      });
    }, untilTrue);
    const [list, read] = await Promise.all([
      timed(survivor.memberList()),
      timed(survivor.linearizableRead()),
    ]);
    expect([list.code, read.code]).toEqual(['no-leader', 'no-leader']);
    // The member is asked to refuse at once; it must not take the whole deadline.
    expect(Math.max(list.ms, read.ms)).toBeLessThan(DEADLINE_MS / 2);
  });
});

describe('closing', () => {
  let cluster: EtcdProcessCluster;
  beforeAll(async () => {
    cluster = await EtcdProcessCluster.start({ version: '3.6.16', size: 1 });
  });
  afterAll(() => cluster.stop());

  test('200 members opened, asked and closed leave no socket', async () => {
    const before = openSockets();
    for (let round = 0; round < 200; round += 1) {
      const member = port.member(cluster.member(0).target);
      await Promise.all([member.status(), member.memberList(), member.linearizableRead()]);
      member.close();
    }
    await vi.waitFor(() => expect(openSockets()).toBeLessThanOrEqual(before), untilTrue);
  });

  test('one member is one connection, however many services it is asked for', async () => {
    let accepted = 0;
    const relay = createServer(socket => {
      accepted += 1;
      const onward = connect(cluster.member(0).clientPort, '127.0.0.1');
      socket.pipe(onward).pipe(socket);
      for (const end of [socket, onward]) end.on('error', () => onward.destroy());
    });
    relay.listen(0, '127.0.0.1');
    await once(relay, 'listening');
    try {
      const { port: relayPort } = relay.address() as AddressInfo;
      const member = dial({ ...cluster.member(0).target, port: relayPort });
      await Promise.all(everyCall(member));
      await Promise.all(everyCall(member));
      expect(accepted).toBe(1);
      member.close();
    } finally {
      await once(relay.close(), 'close');
    }
  });

  test('ends the calls that are under way, and refuses later ones', async () => {
    const member = dial(cluster.member(0).target);
    await member.status();
    cluster.member(0).freeze();
    try {
      const calls = everyCall(member);
      member.close();
      for (const ended of await Promise.all(calls)) {
        expect(ended.code).toBe('other');
        expect(ended.ms).toBeLessThan(DEADLINE_MS / 2);
      }
      for (const refused of await Promise.all(everyCall(member))) expect(refused.code).toBe('other');
    } finally {
      cluster.member(0).thaw();
    }
  });

  test('a process that has closed its members ends, whatever state they were in', async () => {
    const gone = { ...cluster.member(0).target, port: 1 };
    const adapter = fileURLToPath(new URL('../../src/etcd/adapter.ts', import.meta.url));
    const script = `
      import { createEtcdPort } from ${JSON.stringify(adapter)};
      const port = createEtcdPort({ deadlines: { status: 300 } });
      const targets = ${JSON.stringify([cluster.member(0).target, gone, cluster.member(0).target])};
      const members = targets.map(target => port.member(target));
      await Promise.allSettled(members.map(member => member.status()));
      const answered = await members[0].linearizableRead();
      const pending = Promise.allSettled([port.member(targets[0]), ...members].map(m => [m.status(), m.close()][0]));
      console.log('closed', answered.revision, (await pending).length);
    `;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const kill = setTimeout(() => child.kill('SIGKILL'), 20_000);
    let closedAt = 0;
    child.stdout.once('data', () => (closedAt = performance.now()));
    const [code] = await once(child, 'exit');
    clearTimeout(kill);
    expect(output).toBe('closed 1 4\n');
    expect(code).toBe(0);
    expect(performance.now() - closedAt).toBeLessThan(1_000);
  });
});
