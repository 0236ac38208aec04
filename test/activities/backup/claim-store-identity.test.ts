/** What a claim's pod and the operator know each other by. */
import { describe, expect, it } from 'vitest';
import { issueIdentity, readIdentity } from '../../../src/activities/backup/claim-store-identity.ts';
import { claimStoreName } from '../../../src/objects/claim-store.ts';
import { FakeKube } from '../../fakes/kubernetes/kube.ts';

const DAY = 24 * 3_600_000;
const OWNER = { kind: 'EtcdBackup', namespace: 'shop', name: 'nightly', uid: 'a1b2c3d4-0000' } as const;

function aBench() {
  const bench = { kube: new FakeKube({}), at: Date.parse('2026-11-21T10:00:00Z') };
  return { bench, deps: { kube: bench.kube, now: () => bench.at } };
}

describe('the identity of a claim’s pod', () => {
  it('is made once, and serves one backup after the other', async () => {
    const { bench, deps } = aBench();
    expect(await readIdentity(deps, OWNER)).toBeUndefined();
    const made = await issueIdentity(deps, OWNER);
    bench.at += 100 * DAY;
    expect((await readIdentity(deps, OWNER))?.metadata).toEqual(made.metadata);
  });

  it('is created again long before it expires', async () => {
    const { bench, deps } = aBench();
    const first = await issueIdentity(deps, OWNER);
    bench.at += 390 * DAY;
    expect(await readIdentity(deps, OWNER)).toBeUndefined();
    const second = await issueIdentity(deps, OWNER);
    expect(second.metadata.uid).toBe(first.metadata.uid);
    expect(second.metadata.resourceVersion).not.toBe(first.metadata.resourceVersion);
    expect((await readIdentity(deps, OWNER))?.metadata).toEqual(second.metadata);
  });

  it('of another owner is not touched', async () => {
    const { deps } = aBench();
    await issueIdentity(deps, { ...OWNER, uid: 'another' });
    await expect(readIdentity(deps, OWNER)).rejects.toThrow('is not owned by the operator');
  });
});

describe('its name', () => {
  it('is another for each resource, also where names are long or alike', () => {
    const names = ['a--b', 'a-b', `${'x'.repeat(45)}-1`, `${'x'.repeat(45)}-2`].map((name, index) =>
      claimStoreName({ ...OWNER, name, uid: `0000000${index}-1111` }),
    );
    expect(new Set(names).size).toBe(4);
    expect(Math.max(...names.map(({ length }) => length))).toBeLessThanOrEqual(63);
  });

  it.each(['.', '-', '.-'])('is one that Kubernetes takes where a long name is cut at "%s"', cut => {
    const name = claimStoreName({
      ...OWNER,
      name: `${'x'.repeat(40 - cut.length)}${cut}tail`,
      uid: '00000001-1111',
    });
    expect(name).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
  });
});
