/**
 * Alerts are seen firing, from a real Prometheus with the shipped rules that scrapes the stack as deploy/monitoring says: each is
 * provoked by what it is about, names the right resource, and ends. Meanwhile its runbook is typed, and the dashboards are asked.
 * The time that an alert must hold is shorter by TIMES_FASTER; windows within expressions are as they are.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OPERATOR_NAMESPACE } from '../../../local/operator.ts';
import { clientServiceName } from '../../../src/api/names.ts';
import type { EtcdClusterSpec } from '../../../src/api/schemas/types.ts';
import { BackupStory } from '../../stack/backup-story.ts';
import { EMPTY_WHEN_WELL, PROVOKED } from '../../stack/drill/alert-drills.ts';
import { ASKING_FOR_CPU } from '../../stack/drill/drilled.ts';
import { leaderOf } from '../../stack/drill/drill.ts';
import { PATIENCE_MS, WatchedAlerts } from '../../stack/drill/watched-alerts.ts';
import { coreosSecrets, secret, staticTls, TestAuthority } from '../../fakes/certificates.ts';
import { awaitRunning, manifest, podsOf, type World } from '../../stack/e2e.ts';
import { useNamespace } from '../../stack/e2e-namespace.ts';
import { poll } from '../../stack/poll.ts';
import { blockOf, startStackStore, type StackStore } from '../../stack/stack-store.ts';

const namespace = 'drill-alerts';
const at = { namespace, name: 'example' };
const SIZE = 3;
const SPEC: EtcdClusterSpec = { size: SIZE, version: '3.6.16', pod: ASKING_FOR_CPU };
/** For tests that wait for several alerts. */
const SEVERAL_MS = 4 * PATIENCE_MS;
const of = (name: string) => ({ namespace, name });
const EXAMPLE = of(at.name);

let world: World;
let alerts: WatchedAlerts;
let story: BackupStory;
let store: StackStore;

useNamespace(namespace, opened => void (world = opened));
beforeAll(async () => {
  story = new BackupStory(world, namespace);
  store = await startStackStore(world, namespace, 'S3');
  // The last one never starts: its creation is what is under way.
  alerts = await WatchedAlerts.start(world, namespace, at.name, 'secure', 'small', 'vulnerable');
  await apply(at.name, SPEC);
  await awaitRunning(world, at, PATIENCE_MS);
});
afterAll(async () => {
  await alerts?.stop();
  await store?.stop();
});

const kubectl = (...args: string[]) => world.stack.kubectl('-n', namespace, ...args);
const etcdctl = (pod: string, ...args: string[]) => kubectl('exec', pod, '--', 'etcdctl', ...args);
const apply = (name: string, spec: EtcdClusterSpec) => world.kube.apply(manifest(namespace, name, spec));
/** Of the stack's StorageClass that cannot expand volumes. */
const claims = (storage: string) => ({
  volumeClaimTemplate: { spec: { storageClassName: 'fixed', resources: { requests: { storage } } } },
});
const discard = (name: string) => kubectl('delete', 'etcd', name, '--timeout=300s');

/** As many targets as there are pods and ports, each with the labels that the operator of Prometheus gives. */
const TARGETS = [
  ...Array.from({ length: SIZE }, () => `etcd-operator/etcd-operator-members ${namespace} metrics`),
  ...['metrics', 'metrics', 'sdk-metrics', 'sdk-metrics'].map(
    endpoint => `etcd-operator/etcd-operator ${OPERATOR_NAMESPACE} ${endpoint}`,
  ),
];

test('all is well: everything is scraped, and no alert fires', async () => {
  const targets = async (): Promise<readonly string[]> => {
    const up = 'up{etcd_cluster="example"} == 1 or up{job="etcd-operator/etcd-operator"} == 1';
    return (await alerts.prometheus.query(up))
      .map(({ metric: { job, namespace: within, endpoint } }) => `${job} ${within} ${endpoint}`)
      .sort();
  };
  // Of its creation an alert may still fire until the next scrape.
  const firing = async (): Promise<readonly (string | undefined)[]> =>
    (await alerts.prometheus.alerts())
      .filter(({ labels }) => labels['name'] === at.name || labels['etcd_cluster'] === at.name)
      .map(({ labels }) => labels['alertname']);
  await poll(
    async () =>
      (await targets()).join() === [...TARGETS].sort().join() &&
      // What is scraped says that it is well.
      (await alerts.prometheus.query('etcd_operator_cluster_available{name="example"} == 1')).length > 0 &&
      (await firing()).length === 0,
    {
      timeoutMs: PATIENCE_MS,
      otherwise: async () =>
        `targets: ${(await targets()).join(', ')}; alerts: ${(await firing()).join(', ')}`,
    },
  );
});

test(
  'versions, specifications and volumes that are not as they should be',
  async () => {
    await apply('losing', { size: 1, version: '3.6.5' });
    await apply('vulnerable', { size: 1, version: '3.7.0' });
    await apply('ancient', { size: 1, version: '3.4.30' });
    await apply('fixed', { size: 1, version: '3.6.16', storage: claims('100Mi') });
    await awaitRunning(world, of('fixed'), PATIENCE_MS);
    await apply('fixed', { size: 1, version: '3.6.16', storage: claims('300Mi') });
    await alerts.fires('EtcdClusterVersionLosesData', of('losing'));
    await alerts.fires('EtcdClusterVersionVulnerable', of('vulnerable'));
    await alerts.fires('EtcdClusterSpecRefused', of('ancient'));
    await alerts.fires('EtcdClusterVolumeNotResized', of('fixed'));
    for (const name of ['losing', 'vulnerable', 'ancient', 'fixed']) await discard(name);
    await alerts.ends('EtcdClusterSpecRefused');
    await alerts.ends('EtcdClusterVolumeNotResized');
  },
  SEVERAL_MS,
);

test(
  'a database that fills, is full, is compacted and defragmented as the runbook says',
  async () => {
    const small = of('small');
    const spec = {
      size: 1,
      version: '3.6.16',
      pod: ASKING_FOR_CPU,
      etcd: { quotaBackendBytes: '16Mi' },
    } as const;
    await apply('small', spec);
    await awaitRunning(world, small, PATIENCE_MS);
    // Paused, so that the operator leaves the free pages where they are until the alert about them fires.
    await apply('small', { ...spec, paused: true });
    const [pod = ''] = (await podsOf(world, namespace, 'small')).map(({ metadata }) => metadata.name);
    const value = 'x'.repeat(1 << 18);
    const put = () => story.through('small', async etcd => void (await etcd.put('large').value(value)));
    const isNearQuota = (): Promise<boolean> =>
      story.through(
        'small',
        async etcd => Number((await etcd.maintenance.status()).dbSize) > 0.82 * (16 << 20),
      );
    while (!(await isNearQuota())) await put();
    await alerts.fires('EtcdClusterDatabaseNearQuota', small);
    await poll(async () => {
      const failed = await put().then(
        () => false,
        () => true,
      );
      return failed;
    });
    await alerts.fires('EtcdClusterAlarm', small);
    await alerts.act('EtcdClusterAlarm', 'compact', small);
    // etcd counts as free what a compaction has freed only with its next write, and a delete is one that it does not refuse.
    await etcdctl(pod, 'del', 'large');
    const member = { namespace, etcd_cluster: 'small', pod };
    await alerts.fires('EtcdMemberDatabaseFragmented', member);
    await apply('small', { ...spec, paused: false });
    await alerts.act('EtcdMemberDatabaseFragmented', 'defrag', member);
    for (const name of ['EtcdClusterAlarm', 'EtcdMemberDatabaseFragmented', 'EtcdClusterDatabaseNearQuota'])
      await alerts.ends(name);
  },
  SEVERAL_MS,
);

test(
  'what waits for a person: an approval, a member added by hand, a pause',
  async () => {
    const repair = { replaceAfterSeconds: 20, maxReplacementsPerHour: 0 };
    await apply(at.name, { ...SPEC, repair });
    const { member } = await leaderOf(world, at);
    const [lost = '', other = ''] = (await podsOf(world, namespace, at.name))
      .map(({ metadata }) => metadata.name)
      .filter(name => name !== member);
    await kubectl('delete', 'pvc', lost, '--wait=false');
    await kubectl('delete', 'pod', lost, '--wait=false');
    await alerts.fires('EtcdClusterApprovalWaiting', EXAMPLE);
    await apply(at.name, { ...SPEC, repair: { ...repair, maxReplacementsPerHour: 100 } });
    await alerts.ends('EtcdClusterApprovalWaiting');
    await awaitRunning(world, at, PATIENCE_MS);
    await poll(() =>
      etcdctl(other, 'member', 'add', 'stranger', '--learner', '--peer-urls=http://192.0.2.1:2380'),
    );
    await alerts.fires('EtcdClusterBlocked', EXAMPLE);
    const { members = [] } = JSON.parse(await etcdctl(other, 'member', 'list', '-w', 'json', '--hex')) as {
      readonly members?: readonly { readonly ID: string; readonly peerURLs: readonly string[] }[];
    };
    const stranger = members.find(({ peerURLs }) => peerURLs[0]?.includes('192.0.2.1'))?.ID ?? '';
    await etcdctl(other, 'member', 'remove', stranger);
    await apply(at.name, { ...SPEC, paused: true });
    await alerts.fires('EtcdClusterPausedForLong', EXAMPLE);
    await alerts.act('EtcdClusterPausedForLong', 'patch etcd', EXAMPLE);
  },
  SEVERAL_MS,
);

test(
  'backups and restores: a store that is away, schedules and restores that cannot be',
  async () => {
    const spec = {
      clusterRef: { name: at.name },
      storageType: 'S3' as const,
      ...blockOf(store, 'bucket/example/etcd'),
    };
    store.front.fault = () => ({ kind: 'status', status: 503 });
    const often = { backupIntervalInSecond: 60, timeoutInSecond: 10 };
    await story.apply('EtcdBackup', 'often', { ...spec, backupPolicy: often });
    await story.apply('EtcdBackup', 'never', { ...spec, backupPolicy: { schedule: '0 3 31 2 *' } });
    await story.apply('EtcdRestore', 'nothing', {
      etcdCluster: { name: 'copy' },
      backupRef: { name: 'absent' },
      clusterTemplate: { size: 1, version: '3.6.16' },
    });
    await alerts.fires('EtcdRestoreWaiting', of('nothing'));
    await alerts.fires('EtcdBackupScheduleInvalid', of('never'));
    await alerts.fires('EtcdBackupFailed', of('often'));
    await alerts.fires('EtcdBackupLate', of('often'));
    await alerts.fires('EtcdClusterNoVerifiedBackup', EXAMPLE);
    await alerts.act('EtcdRestoreWaiting', 'delete', of('nothing'));
    await kubectl('delete', 'etcdbackup', 'never');
    store.front.reset();
    for (const name of [
      'EtcdBackupFailed',
      'EtcdBackupLate',
      'EtcdRestoreWaiting',
      'EtcdBackupScheduleInvalid',
    ])
      await alerts.ends(name, {});
    await story.apply('EtcdRestore', 'refused', {
      etcdCluster: { name: at.name },
      backupRef: { name: 'often' },
    });
    await alerts.fires('EtcdRestoreFailed', of('refused'));
    await kubectl('delete', 'etcdrestore', 'refused');
    await alerts.ends('EtcdRestoreFailed');
  },
  SEVERAL_MS,
);

test(
  'certificates that run out, and a key that does not fit',
  async () => {
    const authority = await TestAuthority.create('company');
    const { peer, server, operator } = await coreosSecrets(authority, 'secure', namespace);
    for (const object of [peer, server, operator]) await world.kube.apply(object);
    await apply('secure', { size: 1, version: '3.6.16', pod: ASKING_FOR_CPU, TLS: staticTls('secure') });
    await awaitRunning(world, of('secure'), PATIENCE_MS);
    const late = authority.at(Date.now() - 5 * 3_600_000);
    const short = await late.issue(
      { commonName: 'operator', usages: ['client'] },
      { lasts: 5.5 * 3_600_000 },
    );
    const other = await authority.issue({ commonName: 'operator', usages: ['client'] });
    const withPair = (pair: { readonly cert: string; readonly key: string }) =>
      secret(namespace, 'secure-operator', {
        'etcd-client.crt': pair.cert,
        'etcd-client.key': pair.key,
        'etcd-client-ca.crt': authority.pair.cert,
      });
    await world.kube.apply(withPair(short));
    await alerts.fires('EtcdCertificateExpiresSoon', of('secure'));
    await alerts.fires('EtcdCertificateExpiresNow', of('secure'));
    await world.kube.apply(withPair({ cert: short.cert, key: other.key }));
    await alerts.fires('EtcdCertificateInvalid', of('secure'));
    await world.kube.apply(operator);
    await alerts.ends('EtcdCertificateInvalid');
    await alerts.ends('EtcdCertificateExpiresNow');
  },
  SEVERAL_MS,
);

test(
  'alerts that look back for five minutes end after them',
  async () => {
    for (const name of [
      'EtcdClusterBlocked',
      'EtcdClusterPausedForLong',
      'EtcdClusterNoVerifiedBackup',
      'EtcdCertificateExpiresSoon',
    ])
      await alerts.ends(name);
  },
  SEVERAL_MS,
);

test('every alert that this file is about has fired, and every command of their runbooks worked', () => {
  expect([...alerts.fired].sort()).toEqual([...PROVOKED['alerts.drill.test.ts']].sort());
  expect(alerts.failed).toEqual([]);
});

test('every query of the dashboards has returned data, but for those that need more than these faults', async () => {
  // What a pass puts back is no operation, and no alert asks for it.
  await world.stack.kubectl('-n', namespace, 'delete', 'service', clientServiceName(at.name));
  const unexplained = () => [...alerts.unanswered].filter(name => EMPTY_WHEN_WELL[name] === undefined);
  await poll(
    async () => {
      await alerts.askDashboards();
      return unexplained().length === 0;
    },
    { timeoutMs: PATIENCE_MS, otherwise: () => unexplained().join('; ') },
  );
});
