import { beforeEach, describe, expect, test } from 'vitest';
import type { EtcdMember } from '../../src/etcd/port.ts';
import { memberPod } from '../../src/objects/pod.ts';
import { BOOTSTRAP, cluster, member } from '../objects/clusters.ts';
import { startArguments } from '../fakes/kubernetes/container-arguments.ts';
import { FakeEtcd } from '../fakes/etcd/etcd.ts';

let etcd: FakeEtcd;
beforeEach(() => {
  etcd = new FakeEtcd();
});

const HOSTS = ['10.0.0.1', '10.0.0.2', '10.0.0.3'];
const dial = (host: string): EtcdMember => etcd.member({ host, port: 2379, serverName: host });

describe('a cluster with quorum', () => {
  test('agrees on its id, its leader and its members', async () => {
    etcd.bootstrap({ name: 'example', hosts: HOSTS });
    const statuses = await Promise.all(HOSTS.map(host => dial(host).status()));
    expect(new Set(statuses.map(status => status.leaderId)).size).toBe(1);
    const { clusterId, members } = await dial('10.0.0.2').memberList();
    expect(members.map(row => row.name)).toEqual(['example-0', 'example-1', 'example-2']);
    expect(statuses.map(status => status.clusterId)).toEqual([clusterId, clusterId, clusterId]);
    expect(await dial('10.0.0.3').linearizableRead()).toEqual({ revision: '1' });
  });

  test('survives one member, and says what the others see', async () => {
    etcd.bootstrap({ name: 'example', hosts: HOSTS });
    etcd.stop('10.0.0.1');
    await expect(dial('10.0.0.1').status()).rejects.toMatchObject({ code: 'unreachable' });
    expect((await dial('10.0.0.2').status()).leaderId).toBeDefined();
  });

  test('loses its leader with its quorum, and gets one again', async () => {
    etcd.bootstrap({ name: 'example', hosts: HOSTS });
    etcd.set('10.0.0.1', 'frozen');
    etcd.set('10.0.0.2', 'isolated');
    await expect(dial('10.0.0.1').status()).rejects.toMatchObject({ code: 'timeout' });
    await expect(dial('10.0.0.2').linearizableRead()).rejects.toMatchObject({ code: 'no-leader' });
    expect(await dial('10.0.0.3').status()).toMatchObject({
      leaderId: undefined,
      errors: ['etcdserver: no leader'],
    });
    etcd.set('10.0.0.1', 'running');
    expect((await dial('10.0.0.3').memberList()).members).toHaveLength(3);
  });
});

describe('starting from the arguments of pods', () => {
  const argsOf = (asked: ReturnType<typeof member>): readonly string[] => {
    return startArguments(memberPod(cluster({}), asked));
  };
  const named = (start: Parameters<typeof member>[0], name: string) =>
    argsOf(member(start, 'PersistentVolumeClaim', name));
  const startAll = () =>
    HOSTS.forEach((host, serial) => {
      const name = `example-${serial}`;
      expect(etcd.start({ host, args: named(BOOTSTRAP, name), disk: name })).toBeUndefined();
    });

  test('members answer once a quorum of them has started, not before', async () => {
    const args = named(BOOTSTRAP, 'example-0');
    etcd.start({ host: '10.0.0.1', args, disk: 'example-0' });
    await expect(dial('10.0.0.1').status()).rejects.toMatchObject({ code: 'timeout' });
    etcd.start({ host: '10.0.0.2', args: named(BOOTSTRAP, 'example-1'), disk: 'example-1' });
    expect((await dial('10.0.0.1').status()).leaderId).toBeDefined();
  });

  test('a restart comes back as itself on its disk, and not at all without', async () => {
    startAll();
    const { memberId } = await dial('10.0.0.1').status();
    const args = named({ state: 'restart' }, 'example-0');
    etcd.stop('10.0.0.1');
    etcd.start({ host: '10.0.0.9', args, disk: 'example-0' });
    expect((await dial('10.0.0.9').status()).memberId).toBe(memberId);
    etcd.stop('10.0.0.9');
    etcd.wipe('example-0');
    expect(etcd.start({ host: '10.0.0.9', args, disk: 'example-0' })).toMatch(/could not retrieve cluster/);
  });

  test('a second bootstrap on an empty disk is refused while peers run', () => {
    startAll();
    etcd.stop('10.0.0.1');
    etcd.wipe('example-0');
    const args = named(BOOTSTRAP, 'example-0');
    expect(etcd.start({ host: '10.0.0.1', args, disk: 'example-0' })).toMatch(/already been bootstrapped/);
  });

  test('a learner joins with the list of the moment, serves its status only, and is promoted', async () => {
    startAll();
    const world = etcd.process('10.0.0.1').cluster;
    const peerUrl = 'http://example-3.example.shop.svc:2380';
    const before = world.rows.map(row => ({ name: row.name, peerUrl: row.peerUrls[0] ?? '' }));
    const args = named({ state: 'join', members: [...before, { name: 'example-3', peerUrl }] }, 'example-3');
    expect(etcd.start({ host: '10.0.0.4', args, disk: 'example-3' })).toMatch(/member count is unequal/);
    const { id } = world.add(peerUrl, true);
    expect(etcd.start({ host: '10.0.0.4', args, disk: 'example-3' })).toBeUndefined();
    expect((await dial('10.0.0.4').status()).isLearner).toBe(true);
    await expect(dial('10.0.0.4').memberList()).rejects.toMatchObject({ code: 'learner' });
    world.promote(id);
    expect((await dial('10.0.0.4').memberList()).members.map(row => row.name)).toContain('example-3');
    world.remove(id);
    expect(etcd.start({ host: '10.0.0.4', args, disk: 'example-3' })).toMatch(/permanently removed/);
  });
});

test('the leader hands over when it is asked itself', async () => {
  const world = etcd.bootstrap({ name: 'example', hosts: HOSTS });
  const ids = world.rows.map(row => row.id);
  const led = ids.indexOf(world.leaderId ?? '');
  const to = ids[(led + 1) % 3] ?? '';
  await expect(dial(HOSTS[(led + 1) % 3] ?? '').moveLeader(to)).rejects.toThrow('not leader');
  await dial(HOSTS[led] ?? '').moveLeader(to);
  expect(await dial(HOSTS[2] ?? '').status()).toMatchObject({ leaderId: to, raftTerm: '3' });
});

test('counts what is left open', () => {
  etcd.bootstrap({ name: 'example', hosts: HOSTS });
  const dialled = HOSTS.map(dial);
  expect(etcd.open).toBe(3);
  dialled.forEach(opened => {
    opened.close();
    opened.close();
  });
  expect(etcd.open).toBe(0);
});
