import { X509Certificate } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Demands, type Fault, inspect, type Material, trusts } from '../../src/tls/inspect.ts';
import type { LeafRequest, Pair } from '../../src/tls/issue.ts';
import { DAY_MS, TestAuthority } from '../fakes/certificates.ts';

const NOW = Date.parse('2026-11-21T10:00:00Z');
const HOST = 'example-0.example.shop.svc';
const DEMANDS: Demands = { now: NOW, usages: ['server', 'client'], hosts: [HOST] };

let authority: TestAuthority;
let good: Pair;
beforeAll(async () => {
  authority = await TestAuthority.create('company', NOW);
  good = await issue();
});

function issue(request: Partial<LeafRequest> = {}, validity: { now?: number; lasts?: number } = {}) {
  return authority.issue({ dnsNames: ['*.example.shop.svc'], ...request }, validity);
}

function faultsOf(material: Partial<Material>, demands: Partial<Demands> = {}): readonly Fault[] {
  const whole = { ...good, ca: authority.pair.cert, ...material };
  return inspect(whole, { ...DEMANDS, ...demands }).faults;
}

describe('what a Secret holds', () => {
  test('is good when certificate, key, names, usages and time fit', () => {
    expect(faultsOf({})).toEqual([]);
    const { notAfter, fractionLeft } = inspect({ ...good, ca: authority.pair.cert }, DEMANDS);
    expect(notAfter).toBe('2027-02-19T10:00:00Z');
    // It was issued a day back.
    expect(fractionLeft).toBeCloseTo(90 / 91, 3);
  });

  test.each<[string, Partial<Material>, Fault['part'], RegExp]>([
    ['a certificate that is no PEM', { cert: 'secret words' }, 'cert', /no PEM block "CERTIFICATE"/],
    [
      'a certificate that is cut off',
      { cert: '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----' },
      'cert',
      /PEM block 1 is not a certificate/,
    ],
    ['a key that is no PEM', { key: 'secret words' }, 'key', /no PEM private key/],
    [
      'a key with a passphrase',
      { key: '-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIB\n-----END ENCRYPTED PRIVATE KEY-----' },
      'key',
      /encrypted/,
    ],
    ['an authority that is no PEM', { ca: 'secret words' }, 'ca', /no PEM block/],
  ])('%s is reported without quoting it', (_, material, part, said) => {
    const [fault] = faultsOf(material);
    expect(fault).toMatchObject({ part, kind: 'Malformed' });
    expect(fault?.detail).toMatch(said);
    expect(fault?.detail).not.toMatch(/secret words|MIIB/);
  });

  test('a key of another certificate is reported', async () => {
    const other = await issue();
    expect(faultsOf({ key: other.key })).toMatchObject([{ part: 'key', kind: 'KeyMismatch' }]);
  });

  test('times are reported by their dates', async () => {
    const expired = await issue({}, { now: NOW - 10 * DAY_MS, lasts: DAY_MS });
    expect(faultsOf(expired)).toEqual([
      { part: 'cert', kind: 'Expired', detail: 'it expired on 2026-11-12T10:00:00Z' },
    ]);
    const early = await issue({}, { now: NOW + 2 * DAY_MS });
    expect(faultsOf(early)).toMatchObject([{ kind: 'NotYetValid' }]);
    const old = await TestAuthority.create('old', NOW - 400 * DAY_MS);
    expect(faultsOf({ ca: old.pair.cert })).toMatchObject([{ part: 'ca', kind: 'Expired' }]);
  });

  test('names that it lacks are listed, and a common name is none', async () => {
    const hosts = [HOST, 'example-client.shop.svc'];
    expect(faultsOf({}, { hosts })[0]?.detail).toBe('it is not valid for example-client.shop.svc');
    expect(faultsOf(await issue({ commonName: HOST, dnsNames: [] }))).toMatchObject([{ kind: 'WrongNames' }]);
  });

  test('a wildcard stands for one label only', () => {
    expect(faultsOf({}, { hosts: [`a.${HOST}`] })).toMatchObject([{ kind: 'WrongNames' }]);
  });

  test.each(['example-*.example.shop.svc', '*xample-0.example.shop.svc'])(
    '%s covers no member',
    async name => {
      expect(faultsOf(await issue({ dnsNames: [name] }))[0]).toMatchObject({ kind: 'WrongNames' });
    },
  );

  test('a bearer needs one of the names that it is looked up by', () => {
    const bearerNames = ['example.shop.svc', '*.example.shop.svc.cluster.local'];
    expect(faultsOf({}, { bearerNames })[0]).toMatchObject({ kind: 'WrongNames' });
    expect(faultsOf({}, { bearerNames: [...bearerNames, '*.example.shop.svc'] })).toEqual([]);
  });

  test('names of members are looked up one by one: a wildcard beside one of them is none for the others', async () => {
    const hosts = [0, 1].map(serial => `example-${serial}.example.shop.svc`);
    const demands = { hosts, bearerNames: ['example.shop.svc'] };
    const one = await issue({ dnsNames: ['*.example.shop.svc', hosts[0]!] });
    expect(faultsOf(one, demands)[0]).toMatchObject({ kind: 'WrongNames' });
    expect(faultsOf(await issue({ dnsNames: hosts }), demands)).toEqual([]);
  });

  test.each(['server', 'client'] as const)('a usage other than %s is reported', async usage => {
    const other = usage === 'server' ? 'client' : 'server';
    const pair = await issue({ usages: [other] });
    const [fault] = faultsOf(pair, { usages: [usage] });
    expect(fault).toMatchObject({ kind: 'WrongUsage', detail: `its extended key usage lacks ${usage} auth` });
    expect(faultsOf(pair, { usages: [other] })).toEqual([]);
  });
});

describe('who is trusted', () => {
  test('a certificate of the authority, in a bundle too; no other', async () => {
    const stranger = await TestAuthority.create('company', NOW);
    expect(trusts(authority.pair.cert, good.cert)).toBe(true);
    expect(trusts(stranger.pair.cert, good.cert)).toBe(false);
    expect(trusts(`${stranger.pair.cert}\n${authority.pair.cert}\n`, good.cert)).toBe(true);
  });

  test('a leaf does not vouch for another, whatever it is called', async () => {
    expect(trusts(good.cert, (await issue()).cert)).toBe(false);
    expect(trusts(good.cert, good.cert)).toBe(true);
  });
});

test('what is issued ends with its authority, and says what was asked', async () => {
  const pair = await issue({ addresses: ['127.0.0.1', '::1'] }, { lasts: 1000 * DAY_MS });
  const certificate = new X509Certificate(pair.cert);
  expect(certificate.validToDate).toEqual(new X509Certificate(authority.pair.cert).validToDate);
  expect(certificate.checkIP('127.0.0.1')).toBe('127.0.0.1');
  expect(certificate.checkIP('::1')).toBeDefined();
  expect(certificate.ca).toBe(false);
});

describe('several authorities in one Secret', () => {
  test('one that has ended beside one that goes on is no fault', async () => {
    const ended = await TestAuthority.create('before', NOW - 400 * DAY_MS);
    expect(faultsOf({ ca: `${ended.pair.cert}\n${authority.pair.cert}` })).toEqual([]);
    expect(faultsOf({ ca: ended.pair.cert })).toMatchObject([{ part: 'ca', kind: 'Expired' }]);
  });

  test('one that has ended is trusted no more', async () => {
    const other = await TestAuthority.create('other', NOW);
    const bundle = `${other.pair.cert}\n${authority.pair.cert}`;
    expect(trusts(bundle, good.cert, { now: NOW })).toBe(true);
    expect(trusts(bundle, good.cert, { now: NOW + 400 * DAY_MS })).toBe(true);
    const young = await TestAuthority.create('young', NOW + 390 * DAY_MS);
    expect(trusts(`${young.pair.cert}\n${authority.pair.cert}`, good.cert, { now: NOW + 400 * DAY_MS })).toBe(
      false,
    );
  });
});

test('what is issued by a clock that is ahead for hours is good by those that are not', async () => {
  const early = await TestAuthority.create('early', NOW + 20 * 3_600_000);
  const pair = await early.issue({ dnsNames: [HOST] });
  expect(inspect({ ...pair, ca: early.pair.cert }, DEMANDS).faults).toEqual([]);
});
