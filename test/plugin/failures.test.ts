import { writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { faults } from '../kube/support.ts';
import { PluginBench, WELL } from './bench.ts';

let bench: PluginBench;
beforeAll(async () => {
  bench = await PluginBench.start();
});
afterAll(() => bench.stop());
beforeEach(async () => {
  await bench.reset();
});

describe('the command line', () => {
  test.each([
    ['statsu x', 'Did you mean kubectl etcd status?'],
    ['flet', 'Did you mean kubectl etcd fleet?'],
    ['status x --namespce y', 'Did you mean --namespace?'],
    ['status x -z', 'there is no flag -z'],
    ['status x -o xml', '--output must be json or yaml'],
    ['fleet -Az', 'there is no flag -z in -Az'],
    ['fleet -watch', 'Did you mean --watch?'],
    ['fleet --watch=no', 'the flag --watch has no value'],
    ['zzzzzz', 'kubectl etcd help lists all commands.'],
    ['explain backup/nightly', 'See: kubectl etcd backups nightly'],
    ['backups example -A', 'NAME and -A exclude each other'],
    ['etcdctl example -o json -- get x', 'etcdctl has no output as json or yaml'],
    ['shell example -o yaml', 'shell has no output as json or yaml'],
    ['forward example --output=json', 'forward has no output as json or yaml'],
    ['completion bash -o json', 'completion has no output as json or yaml'],
  ])('%s is refused with a hint', async (line, said) => {
    expect(await bench.run(line)).toMatchObject({ code: 2, out: '', err: expect.stringContaining(said) });
  });

  test.each(['-n shop', '-nshop', '-n=shop', '--namespace shop', '--namespace=shop'])(
    '%s is understood',
    async flag => {
      await bench.put('EtcdCluster', 'example', { status: WELL, namespace: 'shop' });
      expect(await bench.run(`status example ${flag}`)).toMatchObject({ code: 0 });
    },
  );

  test.each(['', 'help', '--help', 'help pause', 'pause --help', 'pause x -h'])(
    '"%s" shows help',
    async line => {
      const { code, out, err } = await bench.run(line);
      expect([code, err]).toEqual([0, '']);
      expect(out).toContain(
        line.includes('pause') ? 'kubectl etcd pause NAME [FLAGS]' : 'Exit codes: 0 done',
      );
    },
  );
});

describe('a missing object or server', () => {
  test('a cluster: those that there are', async () => {
    await bench.put('EtcdCluster', 'orders', {});
    await bench.put('EtcdCluster', 'carts', {});
    const { code, err } = await bench.run('status ordres');
    expect(code).toBe(1);
    expect(err).toBe(
      'error: there is no EtcdCluster ordres in namespace default\nDid you mean orders?\nThere are: carts, orders\n',
    );
    expect((await bench.run('status orders -n shop')).err).toContain('kubectl etcd fleet -A');
  });

  test('the kinds: the operator is not installed', async () => {
    bench.server.fail('any', faults.status(404, 'NotFound'), Infinity);
    for (const line of ['fleet', 'status example', 'pause example --yes']) {
      const { code, err } = await bench.run(line);
      expect(code).toBe(1);
      expect(err).toContain('does not know the kinds of etcd.database.coreos.com');
    }
  });

  test.each([
    ['--kubeconfig /does/not/exist', 'ENOENT'],
    ['--context nowhere', 'no cluster for the context "nowhere"'],
  ])('what %s names', async (flags, said) => {
    expect(await bench.run(`fleet ${flags}`)).toMatchObject({ code: 1, err: expect.stringContaining(said) });
  });

  test('a kubeconfig that is none: its text is not shown', async () => {
    await writeFile(bench.server.kubeconfig, 'token: [secret-of-somebody');
    const { code, err } = await bench.run('fleet');
    expect(code).toBe(1);
    expect(err).toContain('it must be a kubeconfig in YAML');
    expect(err).not.toContain('secret-of-somebody');
  });

  test('the API server is unreachable', async () => {
    await bench.server.down();
    const { code, err } = await bench.run('fleet');
    expect(code).toBe(1);
    expect(err).toMatch(/^error: the API server cannot be reached: ECONNREFUSED/);
    expect(err).toContain('kubectl config view --minify');
    await bench.server.up();
  });

  test('the credentials are refused', async () => {
    bench.server.token = 'another-one';
    expect(await bench.run('fleet')).toMatchObject({
      code: 1,
      err: expect.stringContaining('the API server does not accept your credentials'),
    });
  });
});

test('a request that the admission policy or a rule of the CRD refuses ends with 3 and its words', async () => {
  await bench.put('EtcdCluster', 'example', { status: WELL });
  const refuse = (code: number, reason: string, message: string) =>
    bench.server.fail(
      'create',
      (request, response) => {
        return request.kind === 'EtcdRequest' && faults.status(code, reason, { message })(request, response);
      },
      1,
    );
  refuse(
    403,
    'Forbidden',
    "ValidatingAdmissionPolicy 'etcd-request-by' denied request: spec.by must be your user name, which is eve",
  );
  expect(await bench.run('pause example --yes')).toMatchObject({
    code: 3,
    err: expect.stringContaining('which is eve'),
  });
});
