/** The operator as a process with an API key that Temporal stops to accept: it is restarted once, waits, and continues with the next key. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestAuthority } from '../fakes/certificates.ts';
import { KeyedFront } from '../fakes/keyed-front.ts';
import { MountedSecret } from '../fakes/mounted-secret.ts';
import { type ControlPlane, startControlPlane } from '../stack/control-plane.ts';
import { type OperatorProcess, startOperatorProcess } from '../stack/operator-process.ts';
import { poll } from '../stack/poll.ts';
import { startTemporal, type TemporalServer } from '../stack/temporal-server.ts';

const [FIRST, SECOND] = ['canary-first-key', 'canary-second-key'];
const LONG = { timeoutMs: 90_000 };
/** Temporal's library gives up after a minute of refusals. */
const GIVEN_UP = { timeoutMs: 180_000 };

let plane: ControlPlane;
let temporal: TemporalServer;
let front: KeyedFront;
let secret: MountedSecret;
let certificates: MountedSecret;
let environment: Record<string, string>;
let operator: OperatorProcess | undefined;
let output = '';

beforeAll(async () => {
  [plane, temporal] = await Promise.all([startControlPlane(), startTemporal({ searchAttributes: {} })]);
  const authority = await TestAuthority.create('front');
  front = await KeyedFront.start(
    temporal.address,
    await authority.issue({ usages: ['server'], dnsNames: ['temporal.test'] }),
    [FIRST],
  );
  // As Temporal's own authorizer.
  front.open = ['GetSystemInfo', 'Check'];
  secret = await MountedSecret.of({ 'api-key': FIRST });
  certificates = await MountedSecret.of({ 'ca.crt': authority.pair.cert });
  environment = {
    KUBECONFIG: plane.kubeconfig,
    TEMPORAL_ADDRESS: front.address,
    TEMPORAL_NAMESPACE: 'etcd.a1b2c',
    TEMPORAL_API_KEY_PATH: join(secret.folder, 'api-key'),
    TEMPORAL_TLS_SERVER_CA_CERT_PATH: join(certificates.folder, 'ca.crt'),
    TEMPORAL_TLS_SERVER_NAME: 'temporal.test',
    POD_NAME: 'operator-0',
    ROLES: 'worker',
  };
}, 240_000);

afterAll(async () => {
  operator?.signal('SIGKILL');
  await operator?.ended;
  await front?.close();
  await Promise.all([plane?.stop(), temporal?.stop(), secret?.remove(), certificates?.remove()]);
});

const ready = () => operator?.health('/readyz');

test('with a file that holds no key it does not start, and says why', async () => {
  await secret.become({ 'api-key': 'canary one\ncanary two\n' });
  operator = await startOperatorProcess(environment);
  expect(await operator.ended).toBe(1);
  expect(operator.output()).toContain(`${secret.folder}/api-key has several lines: write the API key`);
  output += operator.output();
  await secret.become({ 'api-key': FIRST });
}, 60_000);

test('a key that expires makes it unready, then ends it once; the next one waits, and continues with another key', async () => {
  operator = await startOperatorProcess(environment);
  await poll(async () => (await ready())?.status === 200, {
    ...LONG,
    otherwise: () => operator?.output() ?? '',
  });
  expect(operator.output()).toContain('"name":"etcd.a1b2c"');

  front.keys.clear();
  await poll(async () => (await ready())?.text.includes('Temporal refuses the operator') === true, LONG);
  let code: number | null | undefined;
  void operator.ended.then(ended => (code = ended));
  await poll(async () => code !== undefined, GIVEN_UP);
  expect(code).toBe(1);
  expect(operator.output()).toContain('Temporal refuses the operator; retrying');
  output += operator.output();

  operator = await startOperatorProcess(environment);
  const restarted = operator;
  await poll(async () => restarted.output().includes('Temporal refuses the operator; retrying'), LONG);
  expect(await ready()).toMatchObject({ status: 503 });
  expect((await restarted.health('/healthz'))?.status).toBe(200);

  front.keys.add(SECOND);
  await secret.become({ 'api-key': `${SECOND}\n` });
  await poll(async () => (await ready())?.status === 200, { ...LONG, otherwise: () => restarted.output() });
  expect(front.count(SECOND, true)).toBeGreaterThan(0);
  output += restarted.output();
  // The front quotes each key that it refuses.
  expect(front.count(FIRST, false)).toBeGreaterThan(0);
  expect(output).not.toContain('canary');
  expect(output).toContain('[redacted]');
}, 500_000);
