/** The identity of a pod without a Secret: which service is asked, with what, and what its refusals become. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openStore } from '../../src/store/open.ts';
import { failure } from './contract.ts';

interface Seen {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

let server: Server;
let url = '';
const seen: Seen[] = [];
let answer: (seen: Seen) => { readonly status: number; readonly body?: unknown } = () => ({ status: 500 });

beforeEach(async () => {
  seen.length = 0;
  server = createServer((incoming, outgoing) => {
    let body = '';
    incoming.on('data', (chunk: Buffer) => {
      body += chunk.toString();
    });
    incoming.on('end', () => {
      const came = { path: incoming.url ?? '', headers: incoming.headers, body };
      seen.push(came);
      const { status, body: said } = answer(came);
      // Google's library takes only what says that it is a metadata server.
      outgoing.writeHead(status, { 'content-type': 'application/json', 'metadata-flavor': 'Google' });
      outgoing.end(said === undefined ? undefined : JSON.stringify(said));
    });
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  server.close();
});

/** Stands for the cloud. */
const trustedHosts = ['127.0.0.1'];
const OBJECT = { name: 'a', size: '3', updated: '2026-01-02T03:04:05Z' };

test('Google: the metadata server gives the token of the pod', async () => {
  vi.stubEnv('GCE_METADATA_HOST', new URL(url).host);
  answer = ({ path }) => {
    if (path.includes('/token')) {
      return { status: 200, body: { access_token: 'canary-token', expires_in: 3600, token_type: 'Bearer' } };
    }
    return path.startsWith('/storage') ? { status: 200, body: OBJECT } : { status: 200, body: 'x' };
  };
  const store = await openStore({ type: 'GCS', path: 'bucket/a', endpoint: url }, undefined, {
    trustedHosts,
  });
  expect(await store.head('a')).toMatchObject({ size: 3 });
  await store.head('a');
  expect(seen.at(-1)?.headers.authorization).toBe('Bearer canary-token');
  expect(seen.filter(({ path }) => path.includes('/token'))).toHaveLength(1);
  await store.close();
});

test('Google: a metadata server that refuses is a matter of credentials', async () => {
  vi.stubEnv('GCE_METADATA_HOST', new URL(url).host);
  answer = ({ path }) => ({ status: path.includes('/token') ? 403 : 200, body: 'canary-refusal' });
  const store = await openStore({ type: 'GCS', path: 'bucket/a', endpoint: url }, undefined, {
    trustedHosts,
  });
  const error = await failure(store.head('a'));
  expect(error).toMatchObject({
    code: 'denied',
    message: expect.stringMatching(/configure an identity for the pod/),
  });
  expect(error.message).not.toContain('canary');
  await store.close();
});

test('Azure: workload identity trades its federated token', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'federated-'));
  const file = join(folder, 'token');
  await writeFile(file, 'federated-canary\n');
  const environment = {
    AZURE_FEDERATED_TOKEN_FILE: file,
    AZURE_TENANT_ID: 'tenant',
    AZURE_CLIENT_ID: 'client',
    AZURE_AUTHORITY_HOST: `${url}/`,
  };
  answer = ({ path }) =>
    path === '/tenant/oauth2/v2.0/token'
      ? { status: 200, body: { access_token: 'canary-token', expires_in: 3600 } }
      : { status: 404 };
  const store = await openStore({ type: 'ABS', path: 'c/a', endpoint: url }, undefined, {
    environment,
    trustedHosts,
  });
  await store.delete('a');
  expect(new URLSearchParams(seen[0]?.body).get('client_assertion')).toBe('federated-canary');
  expect(seen[1]).toMatchObject({ path: '/c/a', headers: { authorization: 'Bearer canary-token' } });

  answer = () => ({ status: 400, body: { error: 'invalid_client' } });
  const other = await openStore({ type: 'ABS', path: 'c/a', endpoint: url }, undefined, {
    environment,
    trustedHosts,
  });
  const error = await failure(other.delete('a'));
  expect(error.code).toBe('denied');
  expect(error.message).not.toContain('canary');
  await rm(folder, { recursive: true });
});

test('S3: without credentials anywhere the call says so', async () => {
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_PROFILE'])
    vi.stubEnv(name, undefined);
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', '/nonexistent');
  vi.stubEnv('AWS_CONFIG_FILE', '/nonexistent');
  const store = await openStore({ type: 'S3', path: 'b/a', endpoint: url }, undefined);
  expect(await failure(store.head('a'))).toMatchObject({
    code: 'denied',
    message: expect.stringMatching(/no credentials were found; name a Secret/),
  });
  await store.close();
});
