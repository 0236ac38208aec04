/** Upgrades while the cluster is written to: a patch, a bad image, a person who changes their mind, operators that are killed. */
import { expect, test } from 'vitest';
import type { EtcdClusterSpec } from '../../../src/api/types.ts';
import { drilledCluster } from '../../support/drill/drilled.ts';
import { awaitCondition, readCluster } from '../../support/e2e.ts';
import { killOperators } from '../../support/operator-processes.ts';
import { poll } from '../../support/poll.ts';

const cluster = drilledCluster('drill-upgrade', 3, { version: '3.5.3' });
const { at, drill } = cluster;
const PATIENT = { timeoutMs: 300_000, intervalMs: 500 };

async function versions(): Promise<(string | undefined)[]> {
  const status = (await readCluster(cluster.world(), at.namespace, at.name))?.status;
  return (status?.members?.details ?? []).map(({ version }) => version);
}

async function arrived(version: string): Promise<boolean> {
  const status = (await readCluster(cluster.world(), at.namespace, at.name))?.status;
  return status?.targetVersion === undefined && (await versions()).every(each => each === version);
}

async function upgraded(title: string, spec: EtcdClusterSpec & { version: string }): Promise<void> {
  await drill(title, async () => {
    await cluster.apply(spec);
    await poll(() => arrived(spec.version), PATIENT);
  });
}

test('from 3.5.3 to the newest 3.5', () => upgraded('3.5.3 → 3.5.35', { version: '3.5.35' }));

test('an image that does not exist is taken back, and the others stay', async () => {
  await drill('3.5.35 → 3.5.99, which nobody has', async () => {
    await cluster.apply({ version: '3.5.99' });
    const told = await awaitCondition(cluster.world(), at, { type: 'UpgradeBlocked', timeoutMs: 120_000 });
    const condition = told.status?.conditions?.find(({ type }) => type === 'UpgradeBlocked');
    expect(condition).toMatchObject({ reason: 'RolledBack' });
    console.log(condition?.message);
    await cluster.apply({ version: '3.5.35' });
    await poll(() => arrived('3.5.35'), PATIENT);
  });
});

test('to 3.6 while the operators are killed again and again', async () => {
  await drill('3.5.35 → 3.6.16, operators killed', async () => {
    await cluster.apply({ version: '3.6.16' });
    await poll(
      async () => {
        const done = await arrived('3.6.16');
        if (!done) killOperators(cluster.world());
        return done;
      },
      { ...PATIENT, intervalMs: 9_000 },
    );
  });
});

test('to 3.7', () => upgraded('3.6.16 → 3.7.3', { version: '3.7.3' }));
