/** What `status` asks members, who must be able to say no, or nothing. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { condition, PluginBench, WELL, wellBut } from './bench.ts';
import { kubectlWith } from './member-pages.ts';

let bench: PluginBench;
beforeAll(async () => {
  bench = await PluginBench.start();
});
afterAll(() => bench.stop());
beforeEach(async () => {
  await bench.reset();
  await bench.put('EtcdCluster', 'example', { spec: { size: 3 }, status: WELL });
});

const MIB = 1_048_576;
const PAGES = {
  'example-0': { leads: true, committed: 1_234_567, size: 40 * MIB, inUse: 10 * MIB, quota: 2_048 * MIB },
  'example-1': {
    committed: 1_234_500,
    applied: 1_234_490,
    size: 41 * MIB,
    inUse: 10 * MIB,
    quota: 2_048 * MIB,
  },
  'example-2': {
    committed: 1_234_567,
    applied: 1_224_567,
    size: 1_843 * MIB,
    inUse: 9 * MIB,
    quota: 2_048 * MIB,
  },
};
const FORBIDDEN = (name: string): string =>
  `Error from server (Forbidden): pods "${name}:2381" is forbidden: User "bob" cannot get resource "pods/proxy" in API group "" in the namespace "default"`;

describe('status asks the members', () => {
  test('how far each is behind, and how large its database is', async () => {
    const { code, out, err } = await bench.run('status example', { capture: kubectlWith(PAGES) });
    expect([code, err]).toEqual([0, '']);
    expect(out).toMatch(/MEMBER +HEALTH +READY +ROLE +VERSION +LAG +DB +IN USE +QUOTA +ALARM +ID +NODE\n/);
    expect(out).toMatch(
      /example-0 .* Leader +3\.6\.16 +0 +40\.0 MiB +10\.0 MiB +2% of 2\.0 GiB +none +a0 +node-0\n/,
    );
    expect(out).toMatch(/example-1 .* Follower +3\.6\.16 +77 +41\.0 MiB /);
    expect(out).toMatch(/example-2 .* 10000 +1\.8 GiB +9\.0 MiB +90% of 2\.0 GiB /);
    expect(out).toContain('asked from the members at 2026-11-23T12:00:00Z');
    expect(out).not.toContain('are not known');
  });

  test('who leads now: the status may be older', async () => {
    const pages = { 'example-0': {}, 'example-1': { leads: true }, 'example-2': { hasLeader: false } };
    const { out } = await bench.run('status example', { capture: kubectlWith(pages) });
    expect(out).toMatch(/example-0 +Healthy +yes +Follower /);
    expect(out).toMatch(/example-1 +Healthy +yes +Leader /);
    expect(out).toMatch(/example-2 +Healthy +yes +no leader /);
  });

  test('without the right: the columns are empty, and one line names the right', async () => {
    const names = ['example-0', 'example-1', 'example-2'];
    const pages = Object.fromEntries(names.map(name => [name, { err: FORBIDDEN(name) }]));
    const { code, out } = await bench.run('status example', { capture: kubectlWith(pages) });
    expect(code).toBe(0);
    expect(out).toMatch(/example-0 +Healthy +yes +Leader +3\.6\.16 +- +- +- +- +none +a0 /);
    expect(out.match(/are not known/g)).toHaveLength(1);
    expect(out).toContain(
      'Lag, database and quota of example-0, example-1, example-2 are not known: bob may not get pods/proxy in namespace default',
    );
  });

  test.each<[string, object, string]>([
    ['that is ended in time', { timedOut: true }, 'no answer within 3 s'],
    [
      'that kubectl waits for in vain',
      {
        err: 'Unable to connect to the server: context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
      },
      'no answer within 3 s',
    ],
    [
      'whose port nobody serves',
      { err: 'Error from server (ServiceUnavailable): connection refused \u001b[2J' },
      'Error from server (ServiceUnavailable): connection refused [2J',
    ],
    ['in front of which something else answers', { err: '' }, 'kubectl failed'],
  ])('a member %s is named, and the others are shown', async (_, answer, reason) => {
    const pages = { ...PAGES, 'example-1': answer as { timedOut: true } };
    const { code, out } = await bench.run('status example', { capture: kubectlWith(pages) });
    expect(code).toBe(0);
    expect(out).toContain(`Lag, database and quota of example-1 are not known: ${reason}\n`);
    expect(out).toMatch(/example-1 +Healthy +yes +Follower +3\.6\.16 +- +- +- +- +none /);
    expect(out).toMatch(/example-0 .* 40\.0 MiB /);
  });

  test('a page that is none of etcd yields nothing', async () => {
    const capture = async () => ({ code: 0, out: '<html>etcd_server_is_leader 1</html>', err: '' });
    const { out } = await bench.run('status example', { capture });
    expect(out).toContain('are not known: its answer is none of etcd');
  });

  test('only those with a pod, all side by side, each with a limit', async () => {
    const members = { ...WELL.members, ready: ['example-0', 'example-1'], unready: [] };
    await bench.reset();
    await bench.put('EtcdCluster', 'example', { spec: { size: 3 }, status: { ...WELL, members } });
    const lines: (readonly string[])[] = [];
    let [open, most] = [0, 0];
    const { out } = await bench.run('status example', {
      capture: async line => {
        lines.push(line);
        most = Math.max(most, (open += 1));
        await new Promise(resolve => void setImmediate(resolve));
        open -= 1;
        return { code: 1, out: '', err: 'no' };
      },
    });
    expect(lines).toHaveLength(2);
    expect(most).toBe(2);
    for (const line of lines) expect(line).toContain('--request-timeout=3s');
    expect(out).not.toMatch(/of .*example-2.* are not known/);
  });

  const SOME = kubectlWith({ ...PAGES, 'example-2': { err: FORBIDDEN('example-2') } });

  test('-o yaml: beside the resource', async () => {
    const { out } = await bench.run('status example -o yaml', { capture: SOME });
    expect(out).toMatch(/^askedFromMembersNow:\n {2}at: 2026-11-23T12:00:00\.000Z\n/m);
  });

  test('-o json: beside the resource, and not in its status', async () => {
    const { out } = await bench.run('status example -o json', { capture: SOME });
    const { askedFromMembersNow, status, kind } = JSON.parse(out);
    expect(kind).toBe('EtcdCluster');
    expect(JSON.stringify(status)).not.toContain('dbSize');
    expect(askedFromMembersNow).toMatchObject({
      members: [
        {
          name: 'example-0',
          isLeader: true,
          hasLeader: true,
          lag: 0,
          dbSize: 40 * MIB,
          dbQuota: 2_048 * MIB,
        },
        { name: 'example-1', isLeader: false, lag: 77, committedIndex: 1_234_500, appliedIndex: 1_234_490 },
      ],
      notAnswered: [{ members: ['example-2'], reason: 'bob may not get pods/proxy in namespace default' }],
    });
  });
});

describe('--watch', () => {
  const ref = {
    apiVersion: 'etcd.database.coreos.com/v1beta2',
    kind: 'EtcdCluster',
    namespace: 'default',
    name: 'example',
  };
  const ready = (text: string) =>
    bench.server.kube.patch(ref, { status: { ready: text } }, { type: 'merge', subresource: 'status' });

  test('does not ask again while nothing is shown again', async () => {
    const asked: string[] = [];
    const { out } = await bench.run('status example --watch', {
      capture: kubectlWith(PAGES, asked),
      onPause: count => count === 20,
    });
    expect(asked).toHaveLength(3);
    expect(out.match(/EtcdCluster example/g)).toHaveLength(1);
  });

  test('asks once in five seconds at most, however often something changes', async () => {
    const asked: string[] = [];
    const { out } = await bench.run('status example --watch', {
      capture: kubectlWith(PAGES, asked),
      pauseMs: 1_000,
      onPause: async count => {
        await ready(`${count}/99`);
        return count === 10;
      },
    });
    expect(out.match(/EtcdCluster example/g)).toHaveLength(10);
    // At the beginning, and after five seconds.
    expect(asked).toHaveLength(6);
  });
});

describe('alarms are those that the status names', () => {
  const alarms = async (conditions: readonly object[], rest: object = {}) => {
    await bench.reset();
    await bench.put('EtcdCluster', 'example', { spec: { size: 3 }, status: wellBut(conditions, rest) });
    const { out } = await bench.run('status example', { capture: kubectlWith(PAGES) });
    return out.match(/(?<=% of 2\.0 GiB +)\S+/g);
  };

  test.each([
    'alarm NOSPACE of member a1; alarm CORRUPT of member a1; etcd refuses writes',
    // As earlier releases worded it: a1 is 161.
    'memberID:161 alarm:NOSPACE ; memberID:161  alarm:CORRUPT',
  ])('by member: %s', async message => {
    expect(await alarms([condition('Healthy', 'False', 'AlarmRaised', message)])).toEqual([
      'none',
      'NOSPACE,CORRUPT',
      'none',
    ]);
  });

  test.each([
    ['an alarm in other words', condition('Healthy', 'False', 'AlarmRaised', 'NOSPACE somewhere'), '-'],
    ['nobody reached', condition('Healthy', 'Unknown', 'MembersUnreachable'), '-'],
    ['one member unhealthy, others answer', condition('Healthy', 'False', 'MembersUnhealthy'), 'none'],
  ])('%s', async (_, healthy, shown) => {
    expect(await alarms([healthy])).toEqual([shown, shown, shown]);
  });
});

describe('how far an operation is', () => {
  const running = async (operation: object) => {
    await bench.reset();
    const status = { ...WELL, operation: { type: 'rolloutCluster', ...operation } };
    await bench.put('EtcdCluster', 'example', { spec: { size: 3 }, status });
    return (await bench.run('status example --no-color')).out;
  };

  test.each<[object, string]>([
    [{ step: 'four', remaining: ['five', 'six', 'seven'], stepsDone: 3 }, '3 steps done, 4 left'],
    [{ step: 'last', remaining: [], stepsDone: 99 }, '99 steps done, 1 left'],
    [{ step: 'second', remaining: [], stepsDone: 1 }, '1 step done, 1 left'],
    [{ step: 'first', remaining: [], stepsDone: 0 }, '0 steps done, 1 left'],
    [{ step: 'one', remaining: ['two'] }, '2 steps left'],
    [{ step: 'one' }, '1 step left'],
  ])(
    '%j is %s: no share of a total, which would go back when the plan grows',
    async (operation, expected) => {
      expect(await running(operation)).toContain(`${expected}\n`);
    },
  );

  test('of one whose steps are not known, nothing is said', async () => {
    expect(await running({})).not.toContain('done:');
  });
});
