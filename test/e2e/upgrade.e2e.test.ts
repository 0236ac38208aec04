/** From 3.5 through 3.6 to 3.7 on real members that are written to all the while; what must not be is refused first. */
import { expect, test } from 'vitest';
import { drilledCluster } from '../support/drill/drilled.ts';
import { upgradesOf } from '../support/drill/versions.ts';

const cluster = drilledCluster('upgrade', 3, { version: '3.5.35' });
const { arrive, blocked, edit } = upgradesOf(cluster);

test('a minor is not skipped, and nothing is touched', async () => {
  const before = await cluster.pods();
  await edit({ version: '3.7.3' });
  expect(await blocked('SkipsMinor')).toContain('Set spec.version to 3.6.16 first');
  expect(await cluster.pods()).toEqual(before);
  await edit({ version: '3.5.35' });
});

test('an image that does not exist is taken back, and the others stay', async () => {
  const before = await cluster.pods();
  await edit({ version: '3.5.99' });
  expect(await blocked('RolledBack')).toContain('v3.5.99 cannot be pulled');
  await edit({ version: '3.5.35' });
  await arrive('3.5.35');
  expect(await cluster.pods()).toEqual(before);
});

test('both minors are taken in one where that is allowed, and no acknowledged write is lost', async () => {
  const { verdict } = await cluster.drill('upgrade 3.5.35 → 3.6.16 → 3.7.3', async () => {
    await edit({ version: '3.7.3', upgrade: { allowIntermediateVersions: true } });
    await arrive('3.7.3', 400_000);
  });
  expect(verdict.longestStallMs).toBeLessThan(3_000);
});
