/** From 3.5 to 3.7 in one, of a cluster with TLS: applications with a certificate come through the Service before and after. */
import { expect, test } from 'vitest';
import { runApplication } from '../../stack/application.ts';
import { drilledCluster } from '../../stack/drill/drilled.ts';
import { upgradesOf } from '../../stack/drill/versions.ts';

const cluster = drilledCluster('drill-upgrade-tls', 3, { version: '3.5.35', TLS: { auto: {} } });
const { at, world } = cluster;
const { arrive, condition, edit } = upgradesOf(cluster);
const access = {
  secretName: `${at.name}-client-tls`,
  keys: { ca: 'ca.crt', cert: 'tls.crt', key: 'tls.key' },
};
const etcdctl = (...command: readonly string[]) => runApplication(world(), at, access, ...command);

test('a cluster with TLS is upgraded 3.5.35 → 3.6.16 → 3.7.3', async () => {
  expect(await etcdctl('put', 'kept', 'through everything')).toBe('Succeeded: OK');
  await edit({ version: '3.7.3', upgrade: { allowIntermediateVersions: true } });
  await arrive('3.7.3', 600_000);
  expect(await etcdctl('get', 'kept', '--print-value-only')).toBe('Succeeded: through everything');
  expect(await condition('TLSReady')).toMatchObject({ reason: 'Ready' });
  expect(await condition('Healthy')).toMatchObject({ status: 'True' });
});
