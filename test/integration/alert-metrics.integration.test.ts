/** The metrics that alerts are written on, as real servers serve them. */
import { expect, test } from 'vitest';
import { etcdVersions } from '../../local/toolchain/versions.ts';
import { ETCD_METRICS } from '../../scripts/alerts/foreign-metrics.ts';
import { EtcdProcessCluster } from '../stack/etcd-process.ts';
import { poll } from '../stack/poll.ts';

test.each(etcdVersions)('etcd %s has those of members', async version => {
  const cluster = await EtcdProcessCluster.start({ version, size: 3 });
  try {
    const missing = async (): Promise<string[]> => {
      const text = await (await fetch(`${cluster.member(0).clientUrl}/metrics`)).text();
      const names = new Set(text.match(/^\w+/gm));
      return ETCD_METRICS.filter(name => !names.has(name));
    };
    // The time of round trips is known after the first.
    await poll(async () => (await missing()).length === 0, {
      otherwise: async () => (await missing()).join(),
    });
    expect(await missing()).toEqual([]);
  } finally {
    await cluster.stop();
  }
});
