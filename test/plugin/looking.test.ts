import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { condition, PluginBench, WELL, wellBut } from './bench.ts';

let bench: PluginBench;
beforeAll(async () => {
  bench = await PluginBench.start();
});
afterAll(() => bench.stop());
beforeEach(async () => {
  await bench.reset();
});

const CONSENT = '{"operation":"replaceMember","ids":["a1"],"by":"your name"}';
const AWAITS = condition(
  'Progressing',
  'False',
  'AwaitingApproval',
  `example-1 would be removed; to approve it, send the signal approve with ${CONSENT}`,
);
const APPROVAL = { awaitedApproval: { operation: 'replaceMember', ids: ['a1'] } };

describe('status', () => {
  test('of a cluster that is well: members, conditions, and nothing to do', async () => {
    await bench.put('EtcdCluster', 'example', { spec: { size: 3 }, status: WELL });
    const { code, out, err } = await bench.run('status example');
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain('EtcdCluster example in namespace default');
    expect(out).toMatch(/Members: +3\/3 ready, 3 in the etcd cluster\n/);
    expect(out).toMatch(/example-0 +Healthy +yes +Leader +3\.6\.16 +- +- +- +- +none +a0 +node-0\n/);
    expect(out).toMatch(/Available +True +LinearizableRead +3m +LinearizableRead\n/);
    expect(out).not.toContain('BackedUp');
    expect(out).not.toContain('Needs attention');
  });

  test('of one that is worked on: the step, what it waits for, what comes next', async () => {
    const operation = {
      type: 'upgradeCluster',
      startedAt: '2026-11-23T11:58:30Z',
      from: '3.5.9',
      to: '3.6.16',
      requestedBy: 'ana',
      step: 'stop example-0',
      message: 'waiting for example-1',
      remaining: ['one', 'two', 'three', 'four'],
    };
    const status = { ...WELL, operation, targetVersion: '3.6.16' };
    await bench.put('EtcdCluster', 'example', { spec: { size: 5 }, status });
    const { out } = await bench.run('status example');
    expect(out).toContain('3 in the etcd cluster, 5 asked for');
    expect(out).toMatch(/Operation: +upgradeCluster, 3\.5\.9 to 3\.6\.16, for 1m30s, requested by ana\n/);
    expect(out).toMatch(/ {2}done: +5 steps left\n/);
    expect(out).toMatch(
      /step: +stop example-0\n +waits: +waiting for example-1\n +next: +one\n +two\n +three\n +and 1 more\n/,
    );
  });

  test('of one that the operator has not seen yet', async () => {
    await bench.put('EtcdCluster', 'example', { spec: { size: 3 } });
    const { code, out } = await bench.run('status example');
    expect(code).toBe(0);
    expect(out).toContain('none yet');
    expect(out).toContain('Needs attention: NotSeenYet');
  });

  test('colors on a terminal, and none with --no-color, $NO_COLOR or a pipe', async () => {
    await bench.put('EtcdCluster', 'example', { status: WELL });
    const colored = (line: string, person: object) =>
      bench.run(line, person).then(({ out }) => out.includes('\u001b['));
    expect(await colored('status example', { isTerminal: true })).toBe(true);
    expect(await colored('status example --no-color', { isTerminal: true })).toBe(false);
    expect(await colored('status example', { isTerminal: true, env: { NO_COLOR: '1' } })).toBe(false);
    expect(await colored('status example', {})).toBe(false);
  });

  test('a text of a stranger does not reach the terminal as a command', async () => {
    const evil = condition('Healthy', 'False', 'MembersUnhealthy', 'example-1 says \u001b[2J\u0007gone');
    await bench.put('EtcdCluster', 'example', { status: wellBut([evil]) });
    const { out } = await bench.run('status example');
    expect(out).toContain('example-1 says [2Jgone');
  });

  test('--watch shows every change until it is interrupted', async () => {
    await bench.put('EtcdCluster', 'example', { status: WELL });
    const ref = {
      apiVersion: 'etcd.database.coreos.com/v1beta2',
      kind: 'EtcdCluster',
      namespace: 'default',
      name: 'example',
    };
    const { code, out } = await bench.run('status example --watch', {
      onPause: async count => {
        if (count === 2)
          await bench.server.kube.patch(
            ref,
            { status: { ready: '2/3' } },
            { type: 'merge', subresource: 'status' },
          );
        return count === 4;
      },
    });
    expect(code).toBe(0);
    expect(out.match(/\d\/3 ready/g)).toEqual(['3/3 ready', '2/3 ready']);
  });

  test.each(['json', 'yaml'])('-o %s is the object', async format => {
    await bench.put('EtcdCluster', 'example', { status: WELL });
    const { out } = await bench.run(`status example -o ${format}`);
    expect(out).toContain(format === 'json' ? '"ready": "3/3"' : 'ready: 3/3');
    expect(out).not.toContain('managedFields');
  });
});

describe('explain', () => {
  test('a cluster that waits for an approval: the message and the exact command', async () => {
    await bench.put('EtcdCluster', 'example', { status: wellBut([AWAITS], APPROVAL) });
    const { code, out } = await bench.run('explain example');
    expect(code).toBe(0);
    expect(out).toContain('AwaitingApproval\n  example-1 would be removed\n');
    expect(out).toContain('kubectl etcd approve example --operation replaceMember --id a1 -n default');
    expect(out).toContain('kubectl etcd abort example -n default');
  });

  test.each([
    ['PausedByPerson', 'kubectl etcd resume example -n default'],
    [
      'PausedBySpec',
      `kubectl patch etcdcluster example --type=merge -p '{"spec":{"paused":false}}' -n default`,
    ],
  ])('%s: how to resume', async (reason, command) => {
    await bench.put('EtcdCluster', 'example', { status: wellBut([condition('Paused', 'True', reason)]) });
    expect((await bench.run('explain example')).out).toContain(command);
  });

  test('what is wrong with the operator comes first, then the obstacle, then what else wants a person', async () => {
    const conditions = [
      condition('TemporalUnavailable', 'True', 'Unreachable'),
      condition('Progressing', 'False', 'Blocked', 'the disk is full'),
      condition('BackedUp', 'False', 'NoBackup'),
    ];
    await bench.put('EtcdCluster', 'example', { status: wellBut(conditions) });
    const { waitsFor } = JSON.parse((await bench.run('explain example -o json')).out);
    expect(waitsFor).toMatchObject([
      { reason: 'Unreachable', toGoOn: 'Bring Temporal back; the operator retries automatically.' },
      { reason: 'Blocked', message: 'the disk is full' },
      { reason: 'NoBackup', toGoOn: 'Create an EtcdBackup with spec.clusterRef.' },
    ]);
  });

  test('an obstacle that another condition names, too, is reported once, with what to do about it', async () => {
    const message = '3.5.9 is not upgraded to 3.7.3';
    const conditions = [
      condition('Progressing', 'False', 'Blocked', message),
      condition('UpgradeBlocked', 'True', 'SkipsMinor', message),
    ];
    await bench.put('EtcdCluster', 'example', { status: wellBut(conditions) });
    const { waitsFor } = JSON.parse((await bench.run('explain example -o json')).out);
    expect(waitsFor).toMatchObject([
      {
        reason: 'SkipsMinor',
        message,
        since: '2026-11-23T11:57:00Z',
        toGoOn: expect.stringContaining('Set spec.version'),
        commands: [{ line: expect.stringContaining('kubectl etcd resync example') }],
      },
    ]);
  });

  test('open requests of this cluster are listed, finished ones and those of others are not', async () => {
    await bench.put('EtcdCluster', 'example', { status: WELL });
    const spec = { clusterRef: { name: 'example' }, action: 'Restart', by: 'ana' };
    await bench.put('EtcdRequest', 'open', {
      spec,
      status: { phase: 'Accepted', message: 'restart follows' },
    });
    await bench.put('EtcdRequest', 'over', { spec, status: { phase: 'Completed' } });
    await bench.put('EtcdRequest', 'other', { spec: { ...spec, clusterRef: { name: 'else' } } });
    const { out } = await bench.run('explain example');
    expect(out).toContain('example waits for nothing: it matches its specification');
    expect(out).toMatch(/open +Restart +ana +Accepted +restart follows\n/);
    expect(out).not.toMatch(/over|other/);
  });
});

describe('fleet', () => {
  test('worst first, of one namespace or of all', async () => {
    const put = (name: string, status: object | undefined, namespace = 'default') =>
      bench.put('EtcdCluster', name, { ...(status && { status }), namespace });
    await put('fine', WELL);
    await put('asks', wellBut([AWAITS], APPROVAL));
    await put('down', wellBut([condition('Available', 'False', 'NoQuorum', 'one of three answers')]), 'shop');
    await put('sleeps', wellBut([condition('Available', 'False', 'Hibernated')]));
    await put('busy', { ...WELL, operation: { type: 'scaleCluster', step: 'add example-3' } });
    await put('new', undefined);
    const { out, code } = await bench.run('fleet -A');
    expect(code).toBe(0);
    const names = out.split('\n').map(line => /^\S+ +(\S+) +([A-Z]\w+)/.exec(line)?.slice(1));
    expect(names.slice(1, 7)).toEqual([
      ['down', 'Unavailable'],
      ['asks', 'NeedsApproval'],
      ['new', 'NotSeenYet'],
      ['busy', 'InProgress'],
      ['sleeps', 'Hibernated'],
      ['fine', 'OK'],
    ]);
    expect(out).toContain('one of three answers');
    expect(out).toContain('6 clusters, 3 in need of attention');
    expect((await bench.run('fleet')).out).not.toContain('down');
    expect((await bench.run('fleet -n empty')).out).toBe(
      'There is no EtcdCluster in namespace empty; look in all with -A.\n',
    );
  });
});

test('history: what, why, who asked, from, to, how it ended, and where to read on', async () => {
  const history = [
    {
      type: 'upgradeCluster',
      outcome: 'RolledBack',
      why: 'the version changed; first step: stop example-0',
      from: '3.5.9',
      to: '3.6.16',
      approvedBy: 'bob',
      message: 'example-0 did not start',
      startedAt: '2026-11-23T02:00:00Z',
      completedAt: '2026-11-23T02:01:30Z',
      workflowID: 'etcdcluster/default/example/0b7e6e34/operation',
      runID: '1f',
    },
    { type: 'rolloutCluster', outcome: 'Succeeded', requestedBy: 'ana', completedAt: '2026-11-22T12:00:00Z' },
  ];
  await bench.put('EtcdCluster', 'example', { status: { ...WELL, history } });
  const { out } = await bench.run('history example');
  expect(out).toContain(
    '2026-11-23T02:01:30Z  upgradeCluster RolledBack, 3.5.9 to 3.6.16, took 1m30s, 9h58m ago',
  );
  expect(out).toMatch(
    /asked by: +nobody: the operator, or a change of the specification\n +approved: +by bob\n/,
  );
  expect(out).toMatch(/asked by: +ana\n/);
  expect(out).toMatch(/workflow: +etcdcluster\/default\/example\/0b7e6e34\/operation, run 1f\n/);
  expect(JSON.parse((await bench.run('history example -o json')).out)).toEqual(history);
});

test('backups: all, those of a cluster, and one with what it keeps', async () => {
  await bench.put('EtcdCluster', 'example', { status: WELL });
  const spec = { clusterRef: { name: 'example' }, storageType: 'S3' };
  const entry = {
    time: '2026-11-23T11:00:00Z',
    location: 's3://shop/example',
    size: 5_242_880,
    revision: 42,
    verified: 'Structure',
  };
  const status = { phase: 'Scheduled', lastSuccessDate: entry.time, history: [entry] };
  await bench.put('EtcdBackup', 'nightly', { spec, status });
  await bench.put('EtcdBackup', 'bare', { spec: { ...spec, clusterRef: { name: 'else' } } });
  const row = /nightly +example +Scheduled +1h ago +Structure +1 +-\n/;
  expect((await bench.run('backups')).out).toMatch(row);
  expect((await bench.run('backups')).out).toMatch(/bare +else +none yet +never +- +0 +-\n/);
  expect((await bench.run('backups example')).out).toMatch(row);
  expect((await bench.run('backups example')).out).not.toContain('bare');
  const { out } = await bench.run('backups nightly');
  expect(out).toMatch(/Newest: +1h ago, verified \(Structure\)\n/);
  expect(out).toMatch(/1h ago +5\.0 MiB +42 +- +- +Structure +s3:\/\/shop\/example\n/);
  expect(await bench.run('backups exmaple')).toMatchObject({
    code: 1,
    err: expect.stringContaining('Did you mean example?'),
  });
});

test('requests: open ones first, of everything or of one resource', async () => {
  const of = (name: string) => ({ clusterRef: { name }, action: 'Pause', by: 'ana', reason: 'maintenance' });
  await bench.put('EtcdRequest', 'over', {
    spec: of('example'),
    status: { phase: 'Refused', message: 'no' },
  });
  await bench.put('EtcdRequest', 'open', { spec: of('example') });
  await bench.put('EtcdRequest', 'other', { spec: of('else') });
  const { out } = await bench.run('requests example');
  expect(out).toMatch(
    /open +Pause +cluster\/example +ana .* Pending +\(maintenance\)\n.*over .* Refused +\(maintenance\) no\n$/,
  );
  expect(JSON.parse((await bench.run('requests -o json')).out).items).toHaveLength(3);
});
