/** The servers of object stores that tests run against, each a process of its own with data in a temporary folder. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, createVerify, generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureToolchain, type ToolName } from '../../local/toolchain/index.ts';
import { signAzure } from '../../src/store/azure-signing.ts';
import { poll } from './poll.ts';
import { Front } from '../fakes/store-front.ts';
import { freePort } from './free-ports.ts';

/** A running server with a front before it. `stop` ends both and forgets the data. */
export interface StoreServer {
  readonly front: Front;
  /** How many uploads to a key its disk has that are not completed, also those that it lists no more. */
  readonly uploadsOf?: (key: string) => Promise<number>;
  stop(): Promise<void>;
}

export const S3_KEYS = { access: 'AKIATESTTESTTESTTEST', secret: 'canary-s3-4f1e0c7b9d2a' };

/** S3: VersityGW with the bucket `bucket`. With a folder of accounts an unknown key gets S3's own answer. */
export async function startVersity(): Promise<StoreServer> {
  const folder = await mkdtemp(join(tmpdir(), 'versitygw-'));
  const [data, accounts] = [join(folder, 'data'), join(folder, 'accounts')];
  await mkdir(join(data, 'bucket'), { recursive: true });
  await mkdir(accounts);
  const port = await freePort();
  const args = ['-listen', `127.0.0.1:${port}`, '-data', data, '-accounts', accounts];
  const env = { ROOT_ACCESS_KEY: S3_KEYS.access, ROOT_SECRET_KEY: S3_KEYS.secret };
  const server = await startServer({ command: [await tool('versitygw'), ...args], env, port, folder });
  const uploads = join(data, 'bucket', '.sgwtmp', 'multipart');
  const uploadsOf = async (key: string): Promise<number> => {
    const ofKey = join(uploads, createHash('sha256').update(key).digest('hex'));
    return (await readdir(ofKey).catch(() => [])).length;
  };
  return { ...server, uploadsOf };
}

export const AZURE_ACCOUNT = {
  name: 'devaccount',
  key: Buffer.from('canary-azure-19f3a7').toString('base64'),
};

/** Azure: Azurite with an account of our own. */
export async function startAzurite(): Promise<StoreServer> {
  const folder = await mkdtemp(join(tmpdir(), 'azurite-'));
  const port = await freePort();
  const args = ['--blobHost', '127.0.0.1', '--blobPort', `${port}`, '--location', folder];
  const quiet = ['--disableTelemetry', '--skipApiVersionCheck', '--silent'];
  const server = await startServer({
    command: [process.execPath, await tool('azurite-blob'), ...args, ...quiet],
    env: { AZURITE_ACCOUNTS: `${AZURE_ACCOUNT.name}:${AZURE_ACCOUNT.key}` },
    port,
    folder,
  });
  const url = new URL(`${server.front.url}/${AZURE_ACCOUNT.name}/bucket?restype=container`);
  const headers = {
    'x-ms-date': new Date().toUTCString(),
    'x-ms-version': '2023-11-03',
    'content-length': '0',
  };
  const authorization = signAzure(AZURE_ACCOUNT, { method: 'PUT', url, headers });
  const { status } = await fetch(url, { method: 'PUT', headers: { ...headers, authorization } });
  if (status !== 201) throw new Error(`the container was not made: HTTP ${status}`);
  return server;
}

/** Google: fake-gcs-server, which checks no credentials, behind a front that does, with an endpoint for tokens. */
export interface GoogleServer extends StoreServer {
  /** The content of a `credentials.json` that is good here. */
  readonly credentials: Readonly<Record<string, string>>;
  readonly accessToken: string;
}

export async function startGoogle(): Promise<GoogleServer> {
  const folder = await mkdtemp(join(tmpdir(), 'fake-gcs-'));
  const port = await freePort();
  const front = await Front.start(port);
  const command = [await tool('fake-gcs-server'), '-port', `${port}`, '-external-url', front.url];
  const server = await startServer({ command, env: {}, port, folder, front });
  // The second is that of the published samples.
  for (const name of ['bucket', 'gcsbucket']) {
    const made = await fetch(`http://127.0.0.1:${port}/storage/v1/b`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name }),
    });
    if (!made.ok) throw new Error(`the bucket ${name} was not made: HTTP ${made.status}`);
  }
  const accessToken = `canary-gcs-${randomBytes(8).toString('hex')}`;
  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const tokens = await serveTokens(
    accessToken,
    keys.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  );
  const url = `http://127.0.0.1:${(tokens.address() as AddressInfo).port}/token`;
  front.guard = ({ headers, path }) =>
    headers.authorization === `Bearer ${accessToken}` || path.startsWith('/upload/resumable')
      ? undefined
      : 401;
  return {
    ...server,
    accessToken,
    credentials: {
      type: 'service_account',
      client_email: 'backup@project.iam.example',
      private_key: keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      private_key_id: 'key-1',
      token_uri: url,
    },
    stop: async () => {
      tokens.close();
      await server.stop();
    },
  };
}

/** Gives the token for an assertion that is signed with the key, is for this address, and is of now. */
async function serveTokens(accessToken: string, publicKey: string): Promise<Server> {
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    let body = '';
    for await (const chunk of incoming) body += chunk;
    const [header = '', claims = '', signature = ''] = (
      new URLSearchParams(body).get('assertion') ?? ''
    ).split('.');
    const said = JSON.parse(Buffer.from(claims, 'base64url').toString() || '{}');
    const now = Date.now() / 1000 - skewSeconds();
    const good =
      createVerify('RSA-SHA256').update(`${header}.${claims}`).verify(publicKey, signature, 'base64url') &&
      said.iat < now + 300 &&
      said.exp > now;
    outgoing.setHeader('content-type', 'application/json');
    outgoing.setHeader('date', new Date(now * 1000).toUTCString());
    outgoing.statusCode = good ? 200 : 400;
    outgoing.end(
      JSON.stringify(
        good
          ? { access_token: accessToken, expires_in: 3600, token_type: 'Bearer' }
          : { error: 'invalid_grant', error_description: 'Invalid JWT Signature or time.' },
      ),
    );
  };
  const server = createHttpServer((incoming, outgoing) => void answer(incoming, outgoing));
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return server;
}

/** Seconds by which a test has moved this process's clock: servers within it keep the true time. */
export function skewSeconds(): number {
  return (Date.now() - (performance.timeOrigin + performance.now())) / 1000;
}

interface Start {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly port: number;
  readonly folder: string;
  readonly front?: Front;
}

async function startServer(start: Start): Promise<StoreServer> {
  const [program = '', ...args] = start.command;
  const child = spawn(program, args, {
    env: { PATH: process.env['PATH'] ?? '', ...start.env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', chunk => {
    said += chunk;
  });
  await poll(() => connects(start.port), { otherwise: () => `${program} does not listen: ${said}` });
  const front = start.front ?? (await Front.start(start.port));
  const stop = async (): Promise<void> => {
    await front.stop();
    await end(child);
    await rm(start.folder, { recursive: true, force: true });
  };
  return { front, stop };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

async function tool(name: ToolName): Promise<string> {
  return (await ensureToolchain({ only: [name] })).path(name);
}

function connects(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
