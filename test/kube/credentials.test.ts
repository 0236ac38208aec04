import { X509Certificate } from 'node:crypto';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { stringify } from 'yaml';
import { ensureCertificate, openAuthority } from '../../local/stack/certificates.ts';
import { createKubeClient } from '../../src/kube/client.ts';
import { FileCredentials } from '../../src/kube/credentials.ts';
import { silentLogger } from '../../src/kube/port.ts';
import { serviceAccountUid } from '../../src/kube/service-account.ts';
import { type Bench, clientOf, memoryLogger, openBench, podRef, pods } from './support.ts';

const serialOf = async (file: string) => new X509Certificate(await readFile(file)).serialNumber;

describe('credentials of a kubeconfig', { timeout: 120_000 }, () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await openBench();
  });
  afterEach(() => bench.close());

  it('follow a client certificate that is renewed; open watches stay', async () => {
    const { client, server } = bench;
    const stop = new AbortController();
    const watch = client.watch(pods, {
      resourceVersion: '1',
      timeoutSeconds: 60,
      idleTimeoutMs: 60_000,
      signal: stop.signal,
    });
    const first = watch[Symbol.asyncIterator]().next();
    await client.get(podRef('a'));
    await vi.waitFor(() => expect(server.openWatches).toBe(1), { timeout: 60_000 });
    expect(server.requests.at(-1)?.clientSerial).toBe(await serialOf(server.file('client.crt')));
    const authority = await openAuthority(server.file('.'), 'ca');
    await ensureCertificate(authority, { file: 'renewed', commonName: 'operator', usage: ['client'] });
    await copyFile(server.file('renewed.key'), server.file('client.key'));
    await copyFile(server.file('renewed.crt'), server.file('client.crt'));
    const renewed = await serialOf(server.file('renewed.crt'));
    await vi.waitFor(async () => {
      await client.get(podRef('a'));
      expect(server.requests.at(-1)?.clientSerial).toBe(renewed);
    }, 20_000);
    expect(server.openWatches).toBe(1);
    await server.kube.create({ ...pods, metadata: { name: 'late', namespace: 'default' } });
    expect((await first).value).toMatchObject({ type: 'ADDED' });
    stop.abort();
  });

  it('stay in use while a renewal is half done or the files are gone', async () => {
    const { server } = bench;
    const logger = memoryLogger();
    const client = clientOf(server, {
      credentials: new FileCredentials({ source: { file: server.kubeconfig }, logger, refreshMs: 0 }),
    });
    await client.get(podRef('a'));
    await copyFile(server.file('server.key'), server.file('client.key'));
    await client.get(podRef('a'));
    await rm(server.kubeconfig);
    await client.get(podRef('a'));
    expect(logger.lines.length).toBeGreaterThanOrEqual(2);
    expect(JSON.stringify(logger.lines)).not.toContain('PRIVATE');
    await client.close();
  });

  it('are read again at once when the apiserver refuses the token', async () => {
    const { server } = bench;
    const credentials = new FileCredentials({
      source: { file: server.kubeconfig },
      logger: silentLogger,
      refreshMs: 3_600_000,
    });
    const client = clientOf(server, { credentials });
    await client.get(podRef('a'));
    server.token = 'the-second-token';
    await server.writeKubeconfig();
    await client.get(podRef('a'));
    expect(server.requests.map(request => request.authorization?.slice(-12))).toEqual([
      't-0123456789',
      't-0123456789',
      'second-token',
    ]);
    server.token = 'unknown-to-the-client';
    await expect(client.get(podRef('a'))).rejects.toMatchObject({ code: 401, reason: 'Unauthorized' });
    expect(server.requests).toHaveLength(5);
    await client.close();
  });

  it('refuse a server that another authority vouches for', async () => {
    const { server } = bench;
    await openAuthority(server.file('.'), 'other');
    await copyFile(server.file('other.crt'), server.file('ca.crt'));
    const client = clientOf(server, { retry: { backoff: { firstMs: 1, maxMs: 1 }, attempts: 1 } });
    await expect(client.get(podRef('a'))).rejects.toMatchObject({
      reason: 'NetworkError',
      notProcessed: true,
    });
    expect(server.requests).toHaveLength(0);
    await client.close();
  });

  it('say what is missing, and print no secret', async () => {
    const missing = new FileCredentials({
      source: { file: bench.server.file('none') },
      logger: silentLogger,
    });
    await expect(missing.connection()).rejects.toMatchObject({
      reason: 'Credentials',
      message: expect.stringContaining('none'),
    });
    const unknown = new FileCredentials({
      source: { file: bench.server.kubeconfig },
      context: 'prod',
      logger: silentLogger,
    });
    await expect(unknown.connection()).rejects.toMatchObject({
      message: expect.stringContaining('context "prod"'),
    });
    const credentials = new FileCredentials({
      source: { file: bench.server.kubeconfig },
      logger: silentLogger,
    });
    await credentials.connection();
    const printed = inspect(credentials, { depth: 20, showHidden: true }) + JSON.stringify(credentials);
    expect(printed).not.toContain(bench.server.token);
  });

  it('may lead through a proxy', async () => {
    const { server } = bench;
    const tunnels: string[] = [];
    const proxy = createServer();
    proxy.on('connect', (request, socket, head) => {
      tunnels.push(request.url ?? '');
      const [host = '', port = ''] = (request.url ?? '').split(':');
      const target = connect(Number(port), host, () => {
        socket.write('HTTP/1.1 200 Connection Established\r\n\r\n');
        target.write(head);
        target.pipe(socket).pipe(target);
      });
      for (const end of [socket, target]) end.on('error', () => {});
    });
    await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve));
    const text = await readFile(server.kubeconfig, 'utf8');
    const proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    await writeFile(
      server.kubeconfig,
      text.replace('      server:', `      proxy-url: ${proxyUrl}\n      server:`),
    );
    const client = clientOf(server);
    expect(await client.get(podRef('a'))).toBeUndefined();
    expect(tunnels).toEqual([new URL(server.url).host]);
    await client.close();
    proxy.closeAllConnections();
    await new Promise(resolve => proxy.close(resolve));
  });

  it('may come from a program, and one that hangs is met by the deadline', async () => {
    const { server } = bench;
    const folder = await mkdtemp(join(tmpdir(), 'exec-'));
    const result = {
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: { token: server.token },
    };
    const configFor = (script: string): string =>
      stringify({
        clusters: [
          { name: 'c', cluster: { server: server.url, 'certificate-authority': server.file('ca.crt') } },
        ],
        users: [
          {
            name: 'u',
            user: { exec: { apiVersion: result.apiVersion, command: 'sh', args: ['-c', script] } },
          },
        ],
        contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'x',
      });
    await mkdir(folder, { recursive: true });
    const clientFor = async (script: string) => {
      const file = join(folder, 'config');
      await writeFile(file, configFor(script));
      return createKubeClient({
        credentials: new FileCredentials({ source: { file }, logger: silentLogger }),
      });
    };
    const client = await clientFor(`echo '${JSON.stringify(result)}'`);
    expect(await client.get(podRef('a'))).toBeUndefined();
    await client.close();
    const hanging = await clientFor('sleep 3');
    await expect(hanging.get(podRef('a'), { timeoutMs: 100 })).rejects.toMatchObject({ reason: 'Timeout' });
    await hanging.close();
    await rm(folder, { recursive: true });
  });
});

describe('credentials in a cluster', { timeout: 120_000 }, () => {
  let bench: Bench;
  let mountPrefix: string;
  const mount = '/var/run/secrets/kubernetes.io/serviceaccount';
  const inCluster = () => {
    const { hostname: host, port } = new URL(bench.server.url);
    return new FileCredentials({
      source: { serviceAccount: { host, port, mountPrefix } },
      logger: silentLogger,
    });
  };

  beforeEach(async () => {
    bench = await openBench();
    mountPrefix = await mkdtemp(join(tmpdir(), 'mount-'));
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await rm(mountPrefix, { recursive: true });
    await bench.close();
  });

  it('come from the mounted service account and follow its token', async () => {
    const { server } = bench;
    await mkdir(mountPrefix + mount, { recursive: true });
    await copyFile(server.file('ca.crt'), `${mountPrefix}${mount}/ca.crt`);
    await writeFile(`${mountPrefix}${mount}/token`, `${server.token}\n`);
    const client = clientOf(server, { credentials: inCluster() });
    await client.get(podRef('a'));
    server.token = 'the-next-projected-token';
    await writeFile(`${mountPrefix}${mount}/token`, server.token);
    await client.get(podRef('a'));
    expect(server.requests.at(-1)?.authorization).toBe('Bearer the-next-projected-token');
    await client.close();
  });

  it('name the ServiceAccount by its uid, if their token is one of the API server', async () => {
    expect(await serviceAccountUid(mountPrefix)).toBeUndefined();
    await mkdir(mountPrefix + mount, { recursive: true });
    const tokenOf = (claims: object) =>
      ['header', Buffer.from(JSON.stringify(claims)).toString('base64url'), 'signature'].join('.');
    const uid = 'a1a2a3a4-0000-4000-8000-000000000001';
    for (const [token, expected] of [
      ['no JWT', undefined],
      [tokenOf({ sub: 'system:serviceaccount:etcd-operator:etcd-operator' }), undefined],
      [tokenOf({ 'kubernetes.io': { serviceaccount: { name: 'etcd-operator', uid } } }), uid],
    ] as const) {
      await writeFile(`${mountPrefix}${mount}/token`, token);
      expect(await serviceAccountUid(mountPrefix)).toBe(expected);
    }
  });

  it('are missed in a pod without a service account, and where nothing is configured', async () => {
    const missing = { reason: 'Credentials', message: expect.stringContaining(mount) };
    await expect(inCluster().connection()).rejects.toMatchObject(missing);
    vi.stubEnv('HOME', mountPrefix);
    vi.stubEnv('KUBECONFIG', '');
    const nowhere = new FileCredentials({ source: 'default', logger: silentLogger });
    await expect(nowhere.connection()).rejects.toMatchObject({
      message: expect.stringContaining('set KUBECONFIG'),
    });
  });
});
