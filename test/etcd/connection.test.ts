/** What connections share. Calls over them are in adapter.test.ts, and over TLS in test/integration/etcd-tls.integration.test.ts. */
import { afterEach, beforeAll, expect, test } from 'vitest';
import { MemberConnection } from '../../src/etcd/connection.ts';
import type { ClientTls } from '../../src/etcd/port.ts';
import { TestAuthority } from '../fakes/certificates.ts';

let material: ClientTls;
let other: TestAuthority;
const open: MemberConnection[] = [];
beforeAll(async () => {
  const authority = await TestAuthority.create('company');
  other = await TestAuthority.create('other');
  material = { ...(await authority.issue({ usages: ['client'] })), ca: authority.pair.cert };
});
afterEach(() => {
  for (const connection of open.splice(0)) connection.close();
});

function dialled(serial: number, tls: ClientTls): MemberConnection {
  const connection = new MemberConnection({
    host: '127.0.0.1',
    port: 2379,
    serverName: `example-${serial}`,
    tls,
  });
  open.push(connection);
  return connection;
}

test('the members of a cluster are dialled with credentials that are made once', () => {
  expect(dialled(1, material).credentials).toBe(dialled(0, material).credentials);
});

test('certificates that were read again are not taken for those of before, changed or not', () => {
  const before = dialled(0, material).credentials;
  const readAgain = dialled(0, { ...material }).credentials;
  const changed = dialled(0, { ...material, ca: other.pair.cert }).credentials;
  expect(new Set([before, readAgain, changed]).size).toBe(3);
});

test('certificates that cannot be used are refused each time', () => {
  const broken = { ...material, key: 'no key' };
  for (const serial of [0, 1]) expect(() => dialled(serial, broken)).toThrow('cannot be used');
});
