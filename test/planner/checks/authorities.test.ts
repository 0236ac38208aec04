/** Authorities and names as tables: what members have read when they started, what the Secrets hold now, and what is done. */
import { describe, expect, it } from 'vitest';
import { coversHost } from '../../../src/api/derived/tls.ts';
import { authoritiesNote, readAuthorities } from '../../../src/objects/trusted.ts';
import {
  authorityChanges,
  exchangedAuthorities,
  mayBeIssued,
  untrustedByMembers,
} from '../../../src/planner/checks/authorities.ts';
import { certificateCoversNextMember } from '../../../src/planner/checks/certificate-coverage.ts';
import type { Observation, PodFacts } from '../../../src/planner/model/observation.ts';
import type { CertificateFacts } from '../../../src/planner/model/tls-facts.ts';
import { plan } from '../../../src/planner/plan.ts';
import { whyNotAccepted } from '../../../src/planner/checks/restore-acceptance.ts';
import { aClaim, aPod, aRunningCluster, CLUSTER_ID, namesOf, NOW } from '../../worlds/builders.ts';
import { situationOf } from '../../../src/planner/situation.ts';

const [OLD, NEW, RENEWED] = ['old.1', 'new.1', 'old.2'];
const certificate = (given: Partial<CertificateFacts>): CertificateFacts => ({
  role: 'peer',
  secret: 'example-peer',
  keys: 'Standard',
  exists: true,
  owned: false,
  missing: [],
  faults: [],
  notAfter: '2027-01-01T00:00:00Z',
  expiresSoon: false,
  ...given,
});

function seen(
  given: Partial<CertificateFacts>,
  pods: readonly Partial<PodFacts>[] = namesOf(3).map(() => ({ authorities: { peer: [OLD] } })),
): Observation {
  return aRunningCluster({
    pods: pods.map((pod, index) => aPod({ name: `example-${index}`, ...pod })),
    tls: { certificates: [certificate(given)], toIssue: [], taken: [], authoritiesLost: [] },
  });
}

describe('a certificate', () => {
  it.each<[string, Partial<CertificateFacts>, readonly Partial<PodFacts>[] | undefined, number]>([
    ['signed by what all have read', { signers: [OLD] }, undefined, 0],
    ['signed by the same authority, certified anew', { signers: [RENEWED] }, undefined, 0],
    ['signed by one of two, of which members have read the other', { signers: [OLD, NEW] }, undefined, 0],
    ['signed by what nobody has read', { signers: [NEW], authorities: [OLD, NEW] }, undefined, 1],
    ['signed by what one has not read', { signers: [NEW] }, [{ authorities: { peer: [OLD] } }, {}], 1],
    ['signed by no trusted authority, which is reported otherwise', { signers: [] }, undefined, 0],
    ['of which nothing can be read', {}, undefined, 0],
    ['beside pods of which it is not known', { signers: [NEW] }, [{}, {}], 0],
    [
      'beside a pod that has ended',
      { signers: [NEW] },
      [{ phase: 'Failed', authorities: { peer: [OLD] } }],
      0,
    ],
    [
      'beside a pod of somebody else',
      { signers: [NEW] },
      [{ owned: false, authorities: { peer: [OLD] } }],
      0,
    ],
    [
      'that members verify as a client’s',
      { signers: [NEW], role: 'operator' },
      [{ authorities: { server: [OLD] } }],
      1,
    ],
  ])('%s', (_, given, pods, faults) => {
    expect(untrustedByMembers(seen(given, pods))).toHaveLength(faults);
  });
});

describe('the authorities that a member has read', () => {
  it.each([
    ['are those of now', [OLD], [OLD], []],
    ['are those of now in another order', [OLD, NEW], [NEW, OLD], []],
    ['lack one', [OLD], [OLD, NEW], ['authority added to ca.crt of Secret example-peer']],
    ['have one too many', [OLD, NEW], [NEW], ['authority removed from ca.crt of Secret example-peer']],
    ['were certified anew', [OLD], [RENEWED], [/added/, /removed/]],
  ])('%s', (_, then, now, expected) => {
    const changes = authorityChanges(seen({ authorities: now }), aPod({ authorities: { peer: then } }));
    expect(changes).toEqual(expected.map(each => expect.stringMatching(each)));
  });

  it('are brought to a follower first, and not while what is shown is not trusted', () => {
    const both = { authorities: [OLD, NEW] };
    expect(plan(seen({ ...both, signers: [OLD] }), {})).toMatchObject({
      operation: 'rolloutCluster',
      step: {
        kind: 'stopMember',
        member: 'example-1',
        because: 'authority added to ca.crt of Secret example-peer',
      },
    });
    expect(plan(seen({ ...both, signers: [NEW] }), {})).toMatchObject({
      kind: 'blocked',
      reason: 'AuthorityExchanged',
    });
  });

  it('hold for what is to be signed: nothing is that members would not trust', () => {
    const entry = (fingerprint: string) => ({
      secret: 'example-peer-tls',
      why: 'it expires',
      authority: { secret: 'example-peer-ca', fingerprints: [fingerprint], role: 'peer' as const },
    });
    expect(mayBeIssued(seen({}), entry(OLD))).toBe(true);
    expect(mayBeIssued(seen({}), entry(NEW))).toBe(false);
    expect(mayBeIssued(seen({}, []), entry(NEW))).toBe(true);
    const tls = { certificates: [certificate({})], taken: [], authoritiesLost: [] };
    const held = (fingerprint: string) =>
      exchangedAuthorities({
        ...seen({}),
        tls: { ...tls, toIssue: [entry(fingerprint), entry(fingerprint)] },
      });
    expect(held(OLD)).toEqual([]);
    expect(held(NEW)).toEqual([
      expect.stringMatching(/^Secret example-peer-ca contains a different authority/),
    ]);
  });

  it.each<[string, string, object | undefined]>([
    ['as written', JSON.stringify({ peer: [OLD], server: [NEW] }), { peer: [OLD], server: [NEW] }],
    ['with a role that is none', '{"peer":["a"],"x":["b"]}', { peer: ['a'] }],
    ...['', '{', 'null', '[]', '3', '{}', '{"peer":[]}', '{"peer":[1]}', '{"peer":{"length":1}}'].map(
      text => [`that somebody wrote: ${text}`, text, undefined] as [string, string, undefined],
    ),
  ])('are read from a note %s', (_, text, expected) => {
    expect(readAuthorities(text)).toEqual(expected);
  });

  it('are not noted where there are absurdly many', () => {
    expect(authoritiesNote({ peer: Array.from({ length: 3_000 }, () => 'a'.repeat(33)) })).toEqual({});
    expect(authoritiesNote({})).toEqual({});
  });
});

describe('the name of the next member', () => {
  const names = (count: number) => namesOf(count).map(name => `${name}.example.shop.svc`);
  const lost = (dnsNames: readonly string[]): Observation => ({
    ...seen({ dnsNames }, [{}, {}]),
    claims: namesOf(2).map(name => aClaim({ name })),
    probes: Object.fromEntries(Object.entries(aRunningCluster().probes).slice(0, 2)),
  });

  it('is demanded before a lost member is removed', () => {
    expect(plan(lost(names(3)), {})).toMatchObject({ kind: 'blocked', reason: 'WrongNames' });
    expect(certificateCoversNextMember(situationOf(lost(names(3))))?.message).toContain(
      'tls.crt of Secret example-peer is not valid for example-3.example.shop.svc',
    );
    expect(plan(lost(names(4)), {})).toMatchObject({ step: { kind: 'removeMember', member: 'example-2' } });
    const all = ['*.example.shop.svc', 'example.shop.svc'];
    expect(plan(lost(all), {})).toMatchObject({ step: { kind: 'removeMember' } });
  });

  it('has to be there itself where members look each other up by names of members', () => {
    expect(certificateCoversNextMember(situationOf(lost([...names(3), '*.example.shop.svc'])))?.reason).toBe(
      'WrongNames',
    );
    expect(
      certificateCoversNextMember(situationOf(lost([...names(4), '*.example.shop.svc']))),
    ).toBeUndefined();
  });

  it('is not demanded for one who is one too many', () => {
    const observation = lost(names(3));
    const config = { ...observation.cluster.config, size: 2 };
    expect(plan({ ...observation, cluster: { ...observation.cluster, config } }, {})).toMatchObject({
      step: { kind: 'removeMember', member: 'example-2' },
    });
  });

  it('is demanded of all members before anything is restored', () => {
    const source = {
      location: 's3://b/1',
      size: 1,
      sha256: '',
      snapshotSize: 1,
      compression: 'none',
    } as const;
    const restore = {
      name: 'r',
      uid: 'u',
      createdAt: NOW,
      source,
      confirmClusterId: CLUSTER_ID,
      revisionBump: 0,
    };
    const found = whyNotAccepted(situationOf(seen({ dnsNames: names(5) })), restore);
    expect(found).toMatchObject({ kind: 'waits', reason: 'WrongNames' });
    expect(found?.message).toContain('not valid for example-5.example.shop.svc:');
    expect(whyNotAccepted(situationOf(seen({ dnsNames: names(6) })), restore)).toBeUndefined();
  });

  it.each([
    ['*.example.shop.svc', 'example-0.example.shop.svc', true],
    ['*.EXAMPLE.shop.svc', 'Example-0.example.shop.svc', true],
    ['*.shop.svc', 'example-0.example.shop.svc', false],
    ['example-*.example.shop.svc', 'example-0.example.shop.svc', false],
    ['*', 'example', true],
    ['*.example.shop.svc', 'example.shop.svc', false],
  ])('as Go compares %s with %s', (name, host, expected) => {
    expect(coversHost([name], host)).toBe(expected);
  });
});
