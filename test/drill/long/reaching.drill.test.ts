/** The commands of kubectl etcd that reach members, on a real cluster: in plain text, and with certificates. */
import { Etcd3 } from 'etcd3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { clientAccess, readTlsSecrets } from '../../../src/activities/observe/certificate-secrets.ts';
import type { EtcdCluster } from '../../../src/api/schemas/types.ts';
import { ASKING_FOR_CPU } from '../../stack/drill/drilled.ts';
import { Shell } from '../../stack/drill/shell.ts';
import { END_OF_INPUT, INTERRUPT, type Terminal } from '../../stack/drill/terminal.ts';
import { awaitRunning, manifest, podsOf, readCluster, type World } from '../../stack/e2e.ts';
import { useNamespace } from '../../stack/e2e-namespace.ts';
import { freePort } from '../../stack/free-ports.ts';
import { poll } from '../../stack/poll.ts';

const NAMESPACE = 'drill-reaching';
const SPEC = { version: '3.6.16', pod: ASKING_FOR_CPU } as const;
const CLUSTERS = { plain: { size: 3 }, secure: { size: 1, TLS: { auto: {} } } } as const;
const PROMPT = /etcdctl \S+-\d+> /;

let world: World;
let shell: Shell;
const terminals: Terminal[] = [];

useNamespace(NAMESPACE, opened => void (world = opened));

beforeAll(async () => {
  shell = new Shell(world, NAMESPACE);
  for (const [name, spec] of Object.entries(CLUSTERS))
    await world.kube.apply(manifest(NAMESPACE, name, { ...SPEC, ...spec }));
  for (const name of Object.keys(CLUSTERS)) await awaitRunning(world, { namespace: NAMESPACE, name });
});
afterAll(() => {
  for (const terminal of terminals) terminal.close();
});

async function at(command: string): Promise<Terminal> {
  const terminal = await shell.terminal(command);
  terminals.push(terminal);
  return terminal;
}
const etcdctl = (name: string, command: string): Promise<string> =>
  shell.run(`kubectl etcd etcdctl ${name} -- ${command}`);
const failed = async (commands: string): Promise<{ code: number; stderr: string }> =>
  shell.run(commands).then(
    said => Promise.reject(new Error(`it succeeded: ${said}`)),
    (error: { code: number; stderr: string }) => error,
  );

describe.each(Object.keys(CLUSTERS))('%s', name => {
  const { size } = CLUSTERS[name as keyof typeof CLUSTERS];

  test('etcdctl writes, reads and looks at members', async () => {
    expect(await etcdctl(name, "put greeting 'good morning'")).toBe('OK\n');
    expect(await etcdctl(name, 'get greeting --print-value-only')).toBe('good morning\n');
    expect(await etcdctl(name, 'endpoint health --cluster')).toContain('is healthy');
    const { members } = JSON.parse(await etcdctl(name, 'member list -w json')) as {
      members: { name: string }[];
    };
    const pods = (await podsOf(world, NAMESPACE, name)).map(({ metadata }) => metadata.name);
    expect(members.map(member => member.name).sort()).toEqual(pods.sort());
    expect(pods).toHaveLength(size);
  });

  test('etcdctl asks the member that is named', async () => {
    const member = (await podsOf(world, NAMESPACE, name)).at(-1)?.metadata.name ?? '';
    const said = await shell.run(
      `kubectl etcd etcdctl ${name} --member ${member} -- endpoint status -w json`,
    );
    const [{ Endpoint } = { Endpoint: '' }] = JSON.parse(said) as { Endpoint: string }[];
    expect(new URL(Endpoint).hostname).toBe(`${member}.${name}.${NAMESPACE}.svc`);
  });

  test('etcdctl reads what is piped into it, and its output can be piped on', async () => {
    await shell.run(`printf 'of two\\nlines' | kubectl etcd etcdctl ${name} -- put piped`);
    expect(await shell.run(`kubectl etcd etcdctl ${name} -- get piped --print-value-only | wc -l`)).toMatch(
      /^2\b/,
    );
  });

  test('etcdctl that fails is a failure, with what it said', async () => {
    expect(await failed(`kubectl etcd etcdctl ${name} -- get`)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('get command needs one argument'),
    });
  });

  test('shell runs line after line at a terminal', async () => {
    const terminal = await at(`kubectl etcd shell ${name}`);
    await terminal.sees(PROMPT);
    expect(await terminal.line(`put 'two words' "a value"`, PROMPT)).toContain('OK');
    expect(await terminal.line(`get 'two words' --print-value-only`, PROMPT)).toContain('a value');
    expect(await terminal.line('get greeting | wc', PROMPT)).toContain('| has no meaning here');
    expect(await terminal.line('gett greeting', PROMPT)).toContain('unknown command "gett"');
    // What waits ends by an interrupt, and the prompt stays.
    terminal.types('watch greeting\n');
    await terminal.sees(/watch greeting/);
    // What was written before it began to watch it does not see.
    await poll(async () => {
      await etcdctl(name, 'put greeting seen');
      return terminal.sees(/PUT\s+greeting\s+seen/, 2_000);
    });
    terminal.types(INTERRUPT);
    await terminal.sees(PROMPT);
    expect(await terminal.line('get greeting --print-value-only', PROMPT)).toContain('seen');
    terminal.types('exit\n');
    expect(await terminal.ended()).toBe(0);
  });

  test('shell ends with the input', async () => {
    const terminal = await at(`kubectl etcd shell ${name}`);
    await terminal.sees(PROMPT);
    terminal.types(END_OF_INPUT);
    expect(await terminal.ended()).toBe(0);
  });
});

test('shell is for terminals', async () => {
  expect(await failed('kubectl etcd shell plain < /dev/null')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('shell needs a terminal'),
  });
});

test('forward leads to a member, to another one when its pod goes, and ends by an interrupt', async () => {
  const port = await freePort();
  const local = (command: string): Promise<string> =>
    shell.run(`etcdctl --endpoints=http://127.0.0.1:${port} ${command}`);
  const terminal = await at(`kubectl etcd forward plain ${port}`);
  const leads = new RegExp(`127\\.0\\.0\\.1:${port} leads to (\\S+)`);
  await terminal.sees(new RegExp(`etcdctl --endpoints=http://127\\.0\\.0\\.1:${port}`));
  const [, first = ''] = await terminal.sees(leads);
  await terminal.sees(/Forwarding from/);
  expect(await local('put forwarded here')).toBe('OK\n');
  expect(await etcdctl('plain', 'get forwarded --print-value-only')).toBe('here\n');
  await world.stack.kubectl('-n', NAMESPACE, 'delete', 'pod', first, '--wait=false');
  const [, second = ''] = await terminal.sees(leads, 60_000);
  expect(second).not.toBe(first);
  await terminal.sees(/Forwarding from/);
  expect(await poll(() => local('get forwarded --print-value-only'))).toBe('here\n');
  terminal.types(INTERRUPT);
  expect(await terminal.ended()).toBe(0);
  expect((await failed(`etcdctl --endpoints=http://127.0.0.1:${port} get forwarded`)).code).not.toBe(0);
  await awaitRunning(world, { namespace: NAMESPACE, name: 'plain' });
});

test('forward to a cluster with certificates: a client verifies the name that it says', async () => {
  const port = await freePort();
  const terminal = await at(`kubectl etcd forward secure ${port}`);
  const [, name = ''] = await terminal.sees(/names such as (\S+): the certificate/);
  expect(name).toBe(`secure-client.${NAMESPACE}.svc`);
  await terminal.sees(/Forwarding from/);
  const cluster = (await readCluster(world, NAMESPACE, 'secure')) as EtcdCluster;
  const access = clientAccess(await readTlsSecrets(world.kube, cluster));
  if ('unusable' in access || access.tls === undefined) throw new Error('secure has no certificates');
  const { ca, cert, key } = access.tls;
  const client = (verified?: string): Etcd3 =>
    new Etcd3({
      hosts: `https://localhost:${port}`,
      credentials: {
        rootCertificate: Buffer.from(ca),
        certChain: Buffer.from(cert),
        privateKey: Buffer.from(key),
      },
      ...(verified === undefined ? {} : { grpcOptions: { 'grpc.ssl_target_name_override': verified } }),
    });
  const named = client(name);
  try {
    await named.put('forwarded').value('with certificates').exec();
  } finally {
    named.close();
  }
  expect(await etcdctl('secure', 'get forwarded --print-value-only')).toBe('with certificates\n');
  terminal.types(INTERRUPT);
  expect(await terminal.ended()).toBe(0);
});
