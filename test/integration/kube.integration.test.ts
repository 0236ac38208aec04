import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ClosableKubeClient, createKubeClient } from '../../src/kube/client.ts';
import { FileCredentials } from '../../src/kube/credentials.ts';
import { isAlreadyExists, isConflict, isForbidden, isNotFound } from '../../src/kube/errors.ts';
import { createEventRecorder } from '../../src/kube/events.ts';
import { readLease } from '../../src/kube/lease.ts';
import { LeaseElection } from '../../src/kube/lease-election.ts';
import { silentLogger } from '../../src/kube/port.ts';
import { Reflector } from '../../src/kube/reflector.ts';
import type { ReflectorReport } from '../../src/kube/reflector.ts';
import { ServerClock } from '../../src/kube/server-clock.ts';
import { type ControlPlane, startControlPlane } from '../stack/control-plane.ts';

const configMaps = { apiVersion: 'v1', kind: 'ConfigMap' };
const template = { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'c', image: 'i:1' }] } };

describe('against a real kube-apiserver', () => {
  let plane: ControlPlane;
  let client: ClosableKubeClient;
  let namespace: string;
  let namespaces = 0;

  const clientOf = (
    kubeconfig: string,
    options: { pageSize?: number; fieldManager?: string; clock?: ServerClock } = {},
  ): ClosableKubeClient =>
    createKubeClient({
      credentials: new FileCredentials({ source: { file: kubeconfig }, logger: silentLogger }),
      ...options,
    });
  const configMap = (name: string, data: Record<string, string> = {}) => ({
    ...configMaps,
    metadata: { name, namespace },
    data,
  });
  const deployment = (spec: object = {}) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd', namespace },
    spec: { selector: { matchLabels: { app: 'x' } }, template, ...spec },
  });
  const ref = (kind: { apiVersion: string; kind: string }, name: string) => ({
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    namespace,
    name,
  });
  const until = (check: () => void | Promise<void>) => vi.waitFor(check, { timeout: 20_000, interval: 20 });

  beforeAll(async () => {
    plane = await startControlPlane();
    client = clientOf(plane.kubeconfig);
  });
  afterAll(async () => {
    await client.close();
    await plane.stop();
  });
  beforeEach(async () => {
    namespaces += 1;
    namespace = `test-${namespaces}`;
    await client.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  });

  it('creates, reads, patches, replaces and deletes', async () => {
    const made = await client.create(configMap('a', { x: '1' }));
    await expect(client.create(configMap('a'))).rejects.toSatisfy(isAlreadyExists);
    const patched = await client.patch(ref(configMaps, 'a'), { data: { y: '2' } }, { type: 'merge' });
    expect(patched['data']).toEqual({ x: '1', y: '2' });
    await expect(client.replace(made)).rejects.toSatisfy(isConflict);
    await client.patch(ref(configMaps, 'a'), [{ op: 'remove', path: '/data/x' }], { type: 'json' });
    const read = await client.get(ref(configMaps, 'a'));
    expect(read?.['data']).toEqual({ y: '2' });
    expect((await client.replace({ ...(read ?? made), data: { z: '3' } }))['data']).toEqual({ z: '3' });
    await expect(
      client.delete(ref(configMaps, 'a'), { uid: '00000000-0000-4000-8000-000000000000' }),
    ).rejects.toSatisfy(isConflict);
    await client.delete(ref(configMaps, 'a'), { uid: made.metadata.uid });
    await client.delete(ref(configMaps, 'a'));
    expect(await client.get(ref(configMaps, 'a'))).toBeUndefined();
    await expect(client.patch(ref(configMaps, 'a'), {}, { type: 'merge' })).rejects.toSatisfy(isNotFound);
    await client.create(configMap('dry'), { dryRun: true });
    expect(await client.get(ref(configMaps, 'dry'))).toBeUndefined();
  });

  it('tries an object without making it under a name that is taken: what is wrong with it is reported first', async () => {
    await client.create(deployment());
    const dry = { dryRun: true };
    await expect(client.create(deployment({ replicas: -1 }), dry)).rejects.toMatchObject({ code: 422 });
    await expect(client.create(deployment({ replicas: 3 }), dry)).rejects.toSatisfy(isAlreadyExists);
  });

  it('returns the time of the API server, whatever the clock of this machine says', async () => {
    const steady = () => performance.timeOrigin + performance.now() + 660_000;
    const clock = new ServerClock({ steady, wall: steady });
    const other = clientOf(plane.kubeconfig, { clock });
    await other.get(ref(configMaps, 'absent'));
    await other.close();
    expect(Math.abs(clock.now() - Date.now())).toBeLessThan(60_000);
  });

  it('applies: makes, changes, gives up what is left out, and meets other managers', async () => {
    const made = await client.apply(deployment({ replicas: 2, minReadySeconds: 5 }));
    expect(made.metadata.generation).toBe(1);
    expect(
      (await client.apply(deployment({ replicas: 2, minReadySeconds: 5 }))).metadata.resourceVersion,
    ).toBe(made.metadata.resourceVersion);
    const less = await client.apply(deployment({ replicas: 2 }));
    expect(less['spec']).not.toHaveProperty('minReadySeconds');
    const person = clientOf(plane.kubeconfig, { fieldManager: 'person' });
    await expect(person.apply(deployment({ replicas: 3 }), { force: false })).rejects.toSatisfy(isConflict);
    expect((await person.apply(deployment({ replicas: 3 })))['spec']).toMatchObject({ replicas: 3 });
    await person.close();
    const other = {
      ...deployment(),
      metadata: { name: 'd', namespace, uid: '00000000-0000-4000-8000-000000000000' },
    };
    await expect(client.apply(other)).rejects.toSatisfy(isConflict);
    const bad = deployment({ replicas: -1 });
    const invalid = await client.apply(bad).catch((error: unknown) => error);
    expect(invalid).toMatchObject({ code: 422 });
    expect(invalid).toMatchObject({ causes: [expect.objectContaining({ field: 'spec.replicas' })] });
  });

  it('applies status and the rest apart', async () => {
    await expect(
      client.apply({ ...deployment(), status: { replicas: 1 } }, { subresource: 'status' }),
    ).rejects.toSatisfy(isNotFound);
    await client.apply({ ...deployment({ replicas: 1 }), status: { replicas: 9 } });
    expect((await client.get(ref(deployment(), 'd')))?.['status']).not.toMatchObject({ replicas: 9 });
    const applied = await client.apply(
      { ...deployment({ replicas: 7 }), status: { observedGeneration: 1, replicas: 1 } },
      { subresource: 'status' },
    );
    expect(applied).toMatchObject({ spec: { replicas: 1 }, status: { replicas: 1 } });
    expect(applied.metadata.generation).toBe(1);
  });

  it('lists in pages, by selectors, over all namespaces', async () => {
    for (let i = 0; i < 25; i += 1) {
      await client.create({
        ...configMap(`m${i}`),
        metadata: { name: `m${i}`, namespace, labels: { odd: String(i % 2) } },
      });
    }
    const paged = clientOf(plane.kubeconfig, { pageSize: 10 });
    const { items, resourceVersion } = await paged.list(configMaps, { namespace });
    expect(items).toHaveLength(25);
    expect(items[0]).toMatchObject(configMaps);
    expect(resourceVersion).toMatch(/^\d+$/);
    expect((await paged.list(configMaps, { namespace, labelSelector: 'odd=1' })).items).toHaveLength(12);
    expect(
      (await paged.list(configMaps, { fieldSelector: `metadata.namespace=${namespace},metadata.name=m3` }))
        .items,
    ).toHaveLength(1);
    expect((await paged.list(configMaps, { labelSelector: 'odd' })).items).toHaveLength(25);
    await paged.close();
  });

  it('lets a user without rules do nothing, and says so', async () => {
    const nobody = clientOf(await plane.kubeconfigFor('nobody'));
    await expect(nobody.list(configMaps)).rejects.toSatisfy(isForbidden);
    await nobody.close();
  });

  it('ends a watch in its time', async () => {
    const { resourceVersion } = await client.list(configMaps, { namespace });
    const seen: string[] = [];
    const watch = client.watch(configMaps, {
      namespace,
      resourceVersion,
      timeoutSeconds: 2,
      idleTimeoutMs: 30_000,
    });
    void client.create(configMap('seen'));
    for await (const event of watch) seen.push(`${event.type} ${event.object.metadata.name ?? ''}`);
    expect(seen).toEqual(['ADDED seen']);
  });

  it('counts events', async () => {
    const about = await client.create(configMap('subject'));
    const events = createEventRecorder({ client, instance: 'operator-0' });
    for (let i = 0; i < 3; i += 1)
      events.record(about, { type: 'Normal', reason: 'Tested', message: 'It was tested' });
    events.record(about, { type: 'Warning', reason: 'Failed', message: 'ü'.repeat(2_000) });
    await events.flush();
    const { items } = await client.list(
      { apiVersion: 'v1', kind: 'Event' },
      { namespace, fieldSelector: `involvedObject.uid=${about.metadata.uid}` },
    );
    expect(Object.fromEntries(items.map(event => [event['reason'], event['count']]))).toEqual({
      Failed: 1,
      Tested: 3,
    });
  });

  it('elects one leader, whom others watch as their role allows, hands over, and keeps six decimals of time', async () => {
    const rbac = 'rbac.authorization.k8s.io';
    const role = { apiVersion: `${rbac}/v1`, kind: 'Role', metadata: { name: 'candidate', namespace } };
    const leases = { apiGroups: ['coordination.k8s.io'], resources: ['leases'] };
    await client.create({
      ...role,
      rules: [
        { ...leases, verbs: ['create'] },
        { ...leases, resourceNames: ['operator'], verbs: ['get', 'update', 'watch'] },
      ],
    });
    await client.create({
      ...role,
      kind: 'RoleBinding',
      roleRef: { apiGroup: rbac, kind: 'Role', name: 'candidate' },
      subjects: [{ apiGroup: rbac, kind: 'User', name: 'candidate' }],
    });
    const source = { file: await plane.kubeconfigFor('candidate') };
    const calls: string[] = [];
    const limited = createKubeClient({
      credentials: new FileCredentials({ source, logger: silentLogger }),
      report: ({ method }) => void calls.push(method),
    });
    const log: string[] = [];
    const candidate = (identity: string, as: ClosableKubeClient) =>
      new LeaseElection({
        client: as,
        namespace,
        name: 'operator',
        identity,
        timing: { leaseDurationMs: 10_000, renewDeadlineMs: 9_000, renewEveryMs: 200, retryPeriodMs: 200 },
        onStartedLeading: () => log.push(`${identity} leads`),
        onStoppedLeading: because => log.push(`${identity} ${because}`),
      });
    const [a, b] = [candidate('a', client), candidate('b', limited)];
    a.start();
    await until(() => expect(a.isLeader).toBe(true));
    b.start();
    await until(() => expect(b.holder).toBe('a'));
    const at = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace, name: 'operator' };
    const renewals = new Set<unknown>();
    await until(async () => {
      const lease = await client.get(at);
      expect(lease).toMatchObject({ spec: { renewTime: expect.stringMatching(/\.\d{6}Z$/) } });
      renewals.add(readLease(lease ?? { ...at, metadata: { name: '' } }).record.renewTime);
      expect(renewals.size).toBeGreaterThan(5);
    });
    // It has read the lease when it began, and has seen every renewal since without asking.
    expect(calls.filter(method => method !== 'WATCH')).toEqual(['GET']);
    const stopped = performance.now();
    await a.stop();
    await until(() => expect(log).toEqual(['a leads', 'a stopped', 'b leads']));
    // Without the lease having to run out.
    expect(performance.now() - stopped).toBeLessThan(8_000);
    await b.stop();
    await limited.close();
  });

  it('restarts, and a reflector misses nothing: deletion, recreation and change while away', async () => {
    const reported: string[] = [];
    const reports: ReflectorReport[] = [];
    const reflector = new Reflector({
      client,
      kind: configMaps,
      namespace,
      report: report => reports.push(report),
      timing: { backoff: { firstMs: 50, maxMs: 500 } },
      onChange: ({ type, object }) => void reported.push(`${type} ${object.metadata.name}`),
    });
    for (const name of ['changed', 'gone', 'recreated']) await client.create(configMap(name));
    reflector.start();
    await reflector.synced();
    await until(() => expect(reports.at(-1)?.type).toBe('watching'));
    await plane.stopApiserver();
    await until(() => expect(reports.filter(report => report.type === 'failed').length).toBeGreaterThan(1));
    const restarted = plane.startApiserver();
    const late = { timeoutMs: 60_000 };
    await client.delete(ref(configMaps, 'gone'), late);
    await client.delete(ref(configMaps, 'recreated'), late);
    await restarted;
    await client.create(configMap('recreated'));
    await client.patch(ref(configMaps, 'changed'), { data: { x: 'y' } }, { type: 'merge' });
    await client.create(configMap('new'));
    const expected = [
      'added changed',
      'added gone',
      'added recreated',
      'added new',
      'added recreated',
      'deleted gone',
      'deleted recreated',
      'updated changed',
    ];
    await until(() => expect([...reported].sort()).toEqual([...expected].sort()));
    expect(reported.indexOf('deleted recreated')).toBeLessThan(reported.lastIndexOf('added recreated'));
    await delay(100);
    expect(reported).toHaveLength(expected.length);
    await reflector.stop();
    // What the restarted apiserver says to a watch from before, whichever way it takes to say it.
    const old = client.watch(configMaps, { resourceVersion: '1', timeoutSeconds: 4, idleTimeoutMs: 30_000 });
    const first = await old[Symbol.asyncIterator]()
      .next()
      .then(
        ({ value }) => value as unknown,
        (error: unknown) => error,
      );
    expect(first).toMatchObject({ type: 'ERROR', object: { code: 410, reason: 'Expired' } });
  });
});
