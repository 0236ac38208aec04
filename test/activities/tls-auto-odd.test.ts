/** TLS.auto in odd hours: what is issued again and again keeps everything else from being done. */
import { expect, test } from 'vitest';
import { secret, TestAuthority, DAY_MS } from '../fakes/certificates.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

const made = async () => {
  const world = new OperatorWorld({ spec: { size: 3, version: '3.6.16', TLS: { auto: {} } } });
  await world.run();
  return world;
};
const at = (name: string) => ({ apiVersion: 'v1', kind: 'Secret', namespace: 'shop', name });
const dataOf = (world: OperatorWorld, name: string) =>
  (world.kube.peek(at(name))?.['data'] ?? {}) as Record<string, string>;
const tlsReady = (world: OperatorWorld) =>
  world.cluster.status.conditions?.find(({ type }) => type === 'TLSReady');

async function write(world: OperatorWorld, name: string, texts: Readonly<Record<string, string>>) {
  const { data } = secret('shop', name, texts) as { data?: object };
  await world.kube.as('kubectl').patch(at(name), { data }, { type: 'merge' });
}

test('in the last hours of an authority its certificates are not issued in every pass', async () => {
  const world = await made();
  world.now += 10 * 365 * DAY_MS - 6 * 3_600_000;
  expect((await world.run()).decision).toMatchObject({ kind: 'idle' });
  expect(tlsReady(world)).toMatchObject({ status: 'True', reason: 'ExpiresSoon' });
  const before = dataOf(world, 'example-server-tls');
  world.now += 3_600_000;
  expect((await world.run()).decision).toMatchObject({ kind: 'idle' });
  expect(dataOf(world, 'example-server-tls')).toEqual(before);
});

test.each(['peer', 'server', 'operator', 'client'])(
  'an authority that a user wrote into ca.crt of the %s certificate is taken out again',
  async role => {
    const world = await made();
    const name = `example-${role}-tls`;
    const before = dataOf(world, name)['ca.crt'];
    const other = `example-${role === 'peer' ? 'server' : 'peer'}-tls`;
    const untouched = dataOf(world, other);
    const stranger = await TestAuthority.create('stranger', world.now);
    await write(world, name, { 'ca.crt': stranger.pair.cert });
    expect((await world.run()).decision).toMatchObject({ kind: 'idle' });
    expect(dataOf(world, name)['ca.crt']).toBe(before);
    expect(tlsReady(world)).toMatchObject({ status: 'True', reason: 'Ready' });
    expect(dataOf(world, other)).toEqual(untouched);
  },
);

test('an authority that a user put before the one that members trust signs nothing', async () => {
  const world = await made();
  const peer = dataOf(world, 'example-peer-tls');
  const old = Buffer.from(dataOf(world, 'example-peer-ca')['tls.crt'] ?? '', 'base64').toString();
  const { pair } = await TestAuthority.create('next', world.now);
  await write(world, 'example-peer-ca', { 'tls.crt': `${pair.cert}\n${old}`, 'tls.key': pair.key });
  world.now += 70 * DAY_MS;
  await world.run();
  expect(dataOf(world, 'example-peer-tls')).toEqual(peer);
  expect(tlsReady(world)).toMatchObject({ status: 'False', reason: 'AuthorityExchanged' });
});
