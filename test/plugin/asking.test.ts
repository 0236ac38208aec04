import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { condition, forbidden, PluginBench, WELL, wellBut } from './bench.ts';

let bench: PluginBench;
beforeAll(async () => {
  bench = await PluginBench.start();
});
afterAll(() => bench.stop());
beforeEach(async () => {
  await bench.reset();
  await bench.put('EtcdCluster', 'example', { status: WELL });
});

const CLUSTER = { clusterRef: { name: 'example' }, by: 'ana' };

test.each<[string, object]>([
  ['pause example --reason maintenance', { ...CLUSTER, action: 'Pause', reason: 'maintenance' }],
  ['resume example', { ...CLUSTER, action: 'Resume' }],
  ['abort cluster/example', { ...CLUSTER, action: 'Abort' }],
  ['resync example --expires 90s', { ...CLUSTER, action: 'Resync', expiresAfterSeconds: 90 }],
  ['replace example example-1', { ...CLUSTER, action: 'ReplaceMember', member: 'example-1' }],
  ['move-leader example example-2', { ...CLUSTER, action: 'MoveLeader', member: 'example-2' }],
  ['restart example', { ...CLUSTER, action: 'Restart' }],
  ['restart example example-0', { ...CLUSTER, action: 'Restart', member: 'example-0' }],
  [
    'approve example --operation replaceMember --id a1 --id a2',
    { ...CLUSTER, action: 'Approve', operation: 'replaceMember', ids: ['a1', 'a2'] },
  ],
  ['backup nightly', { backupRef: { name: 'nightly' }, by: 'ana', action: 'BackupNow' }],
  ['verify-again nightly', { backupRef: { name: 'nightly' }, by: 'ana', action: 'VerifyBackup' }],
  [
    'verify-again backup/nightly --level Restore --location s3://backups/a',
    {
      backupRef: { name: 'nightly' },
      by: 'ana',
      action: 'VerifyBackup',
      verify: 'Restore',
      location: 's3://backups/a',
    },
  ],
  ['pause backup/nightly', { backupRef: { name: 'nightly' }, by: 'ana', action: 'Pause' }],
])('%s creates one EtcdRequest in the name of the user', async (line, spec) => {
  await bench.put('EtcdBackup', 'nightly', { spec: CLUSTER });
  const { code, err } = await bench.run(`${line} --yes`);
  const [request, ...others] = await bench.requests();
  expect(others).toEqual([]);
  expect(request?.['spec']).toEqual(spec);
  expect(request?.metadata.generateName).toBe(`${line.split(' ')[0]}-`);
  expect(new Set(bench.server.requests.map(({ userAgent }) => userAgent))).toEqual(new Set(['kubectl-etcd']));
  expect(code).toBe(0);
  expect(err).toContain(`etcdrequest/${request?.metadata.name} created`);
});

describe('confirmation', () => {
  test.each([
    ['y', 0, 1],
    ['YES', 0, 1],
    ['n', 1, 0],
    ['', 1, 0],
  ])('a person who types "%s" ends with %i', async (answer, code, sent) => {
    const ran = await bench.run('replace example example-1', { answers: [answer] });
    expect(ran.err).toContain('This will replace the member example-1 of cluster/example');
    expect(ran.err).toContain('Namespace default, context test, asked by ana.');
    expect(ran.code).toBe(code);
    expect(await bench.requests()).toHaveLength(sent);
  });

  test('without a terminal and without --yes nothing is sent', async () => {
    const { code, err } = await bench.run('pause example');
    expect(code).toBe(2);
    expect(err).toContain('Add --yes');
    expect(await bench.requests()).toEqual([]);
  });
});

test.each(['yaml', 'json'])(
  '--dry-run -o %s prints the object, has the server check it, and sends nothing',
  async format => {
    const { code, out } = await bench.run(`pause example --dry-run -o ${format}`);
    expect(code).toBe(0);
    expect(out).toMatch(/action"?: "?Pause/);
    expect(
      bench.server.requests.some(
        ({ kind, query }) => kind === 'EtcdRequest' && query.get('dryRun') === 'All',
      ),
    ).toBe(true);
    expect(await bench.requests()).toEqual([]);
  },
);

describe('--wait', () => {
  test.each([
    ['Completed', 0],
    ['Refused', 3],
    ['Failed', 3],
    ['Aborted', 3],
    ['Expired', 3],
  ] as const)('%s ends with %i and the verdict', async (phase, code) => {
    const ran = await bench.run('pause example --yes --wait', {
      onPause: async count => {
        if (count === 1) await bench.answerRequests({ phase: 'Accepted', message: 'pause follows' });
        if (count === 3) await bench.answerRequests({ phase, message: 'that is that' });
      },
    });
    expect(ran.code).toBe(code);
    expect(ran.err).toMatch(/created\nPending\nAccepted: pause follows\n$/);
    expect(ran.out).toMatch(new RegExp(`^etcdrequest/pause-\\S+ ${phase}: that is that\n`));
  });

  test('longer than --timeout ends with 5, and the request stays', async () => {
    const ran = await bench.run('pause example --yes --wait --timeout 30s', { pauseMs: 10_000 });
    expect(ran.code).toBe(5);
    expect(ran.err).toContain('is not finished after 30 s, and continues: Pending');
    expect(await bench.requests()).toHaveLength(1);
  });

  test('an API server that is away for a while is waited for', async () => {
    const ran = await bench.run('pause example --yes --wait', {
      onPause: async count => {
        if (count === 1) await bench.server.down();
        if (count === 2) {
          await bench.server.up();
          await bench.answerRequests({ phase: 'Completed', message: 'paused' });
        }
      },
    });
    expect(ran.code).toBe(0);
    expect(ran.err).toMatch(
      /created\nPending\nthe API server does not answer; .*\nthe API server answers again\n$/,
    );
  });

  test('a request that is deleted meanwhile, and an interruption, are errors', async () => {
    const interrupted = await bench.run('pause example --yes --wait', { onPause: () => true });
    expect(interrupted).toMatchObject({ code: 1, err: expect.stringContaining('interrupted;') });
    const deleted = await bench.run('resume example --yes --wait', {
      onPause: async () => {
        for (const { apiVersion, kind, metadata } of await bench.requests())
          await bench.server.kube.delete({ apiVersion, kind, ...metadata });
      },
    });
    expect(deleted).toMatchObject({ code: 1, err: expect.stringContaining('was deleted while') });
  });
});

describe('approve', () => {
  const WAITS = wellBut(
    [
      condition(
        'Progressing',
        'False',
        'AwaitingApproval',
        'example-1 would be removed; to approve it, send the signal approve with {"operation":"replaceMember","ids":["a1"],"by":"your name"}',
      ),
    ],
    { awaitedApproval: { operation: 'replaceMember', ids: ['a1'] } },
  );
  const ref = {
    apiVersion: 'etcd.database.coreos.com/v1beta2',
    kind: 'EtcdCluster',
    namespace: 'default',
    name: 'example',
  };
  const waits = () =>
    bench.server.kube.patch(ref, { status: WAITS }, { type: 'merge', subresource: 'status' });

  test('without ids approves what the cluster waits for, when a person has read it', async () => {
    await waits();
    const { code, err } = await bench.run('approve example', { answers: ['y'] });
    expect(code).toBe(0);
    expect(err).toContain('replaceMember of a1: example-1 would be removed');
    expect((await bench.requests())[0]?.['spec']).toMatchObject({ operation: 'replaceMember', ids: ['a1'] });
  });

  test('with --yes needs the ids, and says them', async () => {
    await waits();
    const { code, err } = await bench.run('approve example --yes');
    expect(code).toBe(2);
    expect(err).toContain('It waits for: --operation replaceMember --id a1');
    expect(await bench.requests()).toEqual([]);
  });

  test('of a cluster that waits for nothing fails; with ids it is sent, with a warning', async () => {
    expect(await bench.run('approve example', { answers: ['y'] })).toMatchObject({
      code: 1,
      err: expect.stringContaining('example waits for no approval'),
    });
    const { err } = await bench.run('approve example --operation x --id 1 --yes');
    expect(err).toContain('does not wait for this now');
    expect(await bench.requests()).toHaveLength(1);
  });
});

test.each([
  ['replace example exmaple-1', 1, 'Did you mean example-1?'],
  ['replace example example-9', 1, 'Its members are: example-0, example-1, example-2'],
  ['pause exampel', 1, 'Did you mean example?'],
  ['backup nightly', 1, 'there is no EtcdBackup nightly in namespace default'],
  ['backup cluster/example', 2, 'backup needs the name of an EtcdBackup'],
  ['verify-again cluster/example', 2, 'verify-again needs the name of an EtcdBackup'],
  ['verify-again nightly --level Checksum', 2, '--level must be Structure or Restore'],
  ['restart backup/nightly', 2, 'restart is for clusters'],
  ['pause example --timeout 5m', 2, '--timeout belongs to --wait'],
  ['pause example --wait --timeout soon', 2, 'must be a duration'],
  ['pause example --expires 5s', 2, '--expires must be from 10s to 24h'],
  ['approve example --id a1', 2, '--operation and --id belong together'],
  [`pause example --reason ${'x'.repeat(201)}`, 2, '--reason has 201 characters'],
  ['pause', 2, 'pause needs a name'],
  ['pause example other', 2, 'pause has no use for other'],
  ['pause example --watch', 2, 'pause has no flag --watch'],
])('%s ends with %i, and sends nothing', async (line, code, said) => {
  const ran = await bench.run(`${line} --yes`);
  expect(ran).toMatchObject({ code, err: expect.stringContaining(said) });
  expect(await bench.requests()).toEqual([]);
});

describe('a person without the right', () => {
  test('to create requests is shown which right, and the command that grants it', async () => {
    bench.user = 'bob@example.org';
    bench.server.fail('create', forbidden('bob@example.org', 'create', 'etcdrequests', 'default'), 2);
    const { code, err } = await bench.run('pause example --yes');
    expect(code).toBe(4);
    expect(err).toContain('error: bob@example.org may not create etcdrequests in namespace default\n');
    expect(err).toContain(
      'kubectl create rolebinding etcd-operator-user-of-bob-example-org -n default --clusterrole=etcd-operator-user --user=bob@example.org',
    );
  });

  test('to look at all namespaces is advised to look at one', async () => {
    bench.server.fail('list', forbidden('bob', 'list', 'etcdclusters'));
    const { code, err } = await bench.run('fleet -A');
    expect(code).toBe(4);
    expect(err).toContain('bob may not list etcdclusters in all namespaces');
    expect(err).toContain('kubectl create clusterrolebinding etcd-viewer-of-bob');
    expect(err).toContain('-n NAMESPACE');
  });
});

describe('recover', () => {
  const RECOVERY = {
    member: 'example-2',
    memberID: 'c3',
    revision: 40,
    lastRevision: 42,
    lastSeen: '2026-11-21T10:00:00Z',
    givenUp: [
      { name: 'example-0', id: 'a1', why: 'its claim is gone' },
      { name: 'example-1', id: 'b2', why: 'its claim is gone' },
    ],
  };
  const seen = (name: string, id: string, revision: string) => ({
    ...{ name, id, revision, raftTerm: '2', raftIndex: '50' },
    time: '2026-11-21T10:00:00Z',
  });
  const LOST = {
    ...WELL,
    clusterID: 'f00',
    recovery: RECOVERY,
    lastSeen: [seen('example-0', 'a1', '42'), seen('example-1', 'b2', '42'), seen('example-2', 'c3', '40')],
  };
  const APPROVED = {
    ...CLUSTER,
    action: 'RecoverQuorum',
    member: 'example-2',
    recovery: { clusterID: 'f00', revision: 40, lastRevision: 42, givenUp: ['a1', 'b2'] },
  };

  test('shows every member and what is lost, asks, and names all of it', async () => {
    await bench.reset();
    await bench.put('EtcdCluster', 'example', { status: LOST });
    const { err } = await bench.run('recover example example-2', { answers: ['y'] });
    expect(err).toContain('give up every other member of cluster/example');
    expect(err).toContain('At least 2 revisions are lost: 41 to 42.');
    expect(err).toContain('given up: its claim is gone');
    expect(err).toContain('after 2026-11-21T10:00:00Z');
    expect((await bench.requests()).map(({ spec }) => spec)).toEqual([APPROVED]);
  });

  test('shows the same with --dry-run, and names the flags where there is nobody to ask', async () => {
    await bench.reset();
    await bench.put('EtcdCluster', 'example', { status: LOST });
    const dry = await bench.run('recover example example-2 --dry-run');
    expect(dry.code).toBe(0);
    expect(dry.err).toContain('At least 2 revisions are lost: 41 to 42.');
    const { code, err } = await bench.run('recover example example-2');
    expect(code).toBe(2);
    expect(err).toContain('recover needs a confirmation, and there is no terminal to ask on');
    expect(err).toContain('--yes --revision 40 --give-up a1 --give-up b2');
    expect(await bench.requests()).toEqual([]);
  });

  test('with --yes is sent only when all of it is named', async () => {
    await bench.reset();
    await bench.put('EtcdCluster', 'example', { status: LOST });
    const { code, err } = await bench.run('recover example example-2 --yes');
    expect(code).toBe(2);
    expect(err).toContain('--revision 40 --give-up a1 --give-up b2');
    await bench.run('recover example example-2 --yes --revision 40 --give-up a1 --give-up b2');
    expect((await bench.requests()).map(({ spec }) => spec)).toEqual([APPROVED]);
  });

  test('is not sent where nothing is offered, unless a person names who is given up', async () => {
    const { recovery: _, ...others } = LOST;
    const whileAvailable = async (status: string) => {
      await bench.reset();
      const conditions = [{ type: 'Available', status, reason: 'Any' }];
      await bench.put('EtcdCluster', 'example', { status: { ...others, conditions } });
      return bench.run('recover example example-2 --yes');
    };
    const { code, err } = await whileAvailable('False');
    expect(code).toBe(1);
    expect(err).toContain('offers no recovery: too few members are proved lost yet');
    expect((await whileAvailable('True')).err).toContain('a quorum answers');
    expect(await bench.requests()).toEqual([]);
    await bench.run('recover example example-2 --yes --revision 40 --give-up a1 --give-up b2');
    expect((await bench.requests()).map(({ spec }) => spec)).toEqual([APPROVED]);
  });

  test('needs the revision of a member that was never seen', async () => {
    await bench.reset();
    await bench.put('EtcdCluster', 'example', { status: { ...LOST, recovery: undefined, lastSeen: [] } });
    const { code, err } = await bench.run('recover example example-2 --give-up a1 --yes');
    expect(code).toBe(2);
    expect(err).toContain('name it with --revision');
  });
});
