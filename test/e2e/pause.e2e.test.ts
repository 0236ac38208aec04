/** A person stops the operator's hand, and lets it continue. */
import { describe, expect, test } from 'vitest';
import { API_VERSION } from '../../src/api/names.ts';
import {
  awaitCondition,
  awaitRunning,
  createNamespace,
  discard,
  holds,
  manifest,
  readCluster,
  type World,
} from '../stack/e2e.ts';
import { useNamespace } from '../stack/e2e-namespace.ts';
import { poll } from '../stack/poll.ts';

const NAMESPACE = 'pause';
let world: World;

useNamespace(NAMESPACE, opened => void (world = opened));

const at = (name: string) => ({ namespace: NAMESPACE, name });

describe('a pause sent to the workflow', () => {
  test('holds a creation until resume', async () => {
    const name = 'paused';
    await world.kube.apply(manifest(NAMESPACE, name, { size: 3, version: '3.6.16' }));
    const workflow = await poll(async () => {
      const uid = (await readCluster(world, NAMESPACE, name))?.metadata.uid.slice(0, 8);
      return uid && `etcdcluster/${NAMESPACE}/${name}/${uid}`;
    });
    const request = JSON.stringify({ by: 'ana', reason: 'maintenance' });
    await poll(
      async () =>
        (await world.temporal('workflow', 'signal', '-w', workflow, '--name', 'pause', '-i', request)) !==
        undefined,
    );
    const held = await awaitCondition(world, at(name), { type: 'Paused' });
    expect(held.status?.conditions?.find(({ type }) => type === 'Paused')?.message).toBe(
      'paused by ana (maintenance)',
    );
    expect(held.status?.controlPaused).toBe(true);
    // The workflow learns of it when the pass that wrote the status has come back to it.
    const plan = ['workflow', 'query', '-w', workflow, '--name', 'plan', '-o', 'json'];
    await poll(async () => (await world.temporal(...plan)).includes('Paused'));
    const { resourceVersion } = held.metadata;
    // Nothing but status may move while it is held: asked ten times over three seconds.
    for (let look = 0; look < 10; look += 1) {
      const begun = performance.now();
      await poll(async () => performance.now() - begun > 300);
      expect(holds(await readCluster(world, NAMESPACE, name), 'Available')).toBe(false);
    }
    expect(resourceVersion).toBeDefined();
    // A run that begins anew, as after the loss of Temporal's database, reads the pause in the status.
    await world.temporal('workflow', 'terminate', '-w', workflow, '--reason', 'a test');
    await world.stack.kubectl('annotate', 'etcd', name, '-n', NAMESPACE, 'test=terminated');
    await poll(async () => (await world.temporal(...plan)).includes('Paused'));
    const anew = await readCluster(world, NAMESPACE, name);
    expect(anew?.status).toMatchObject({
      controlPaused: true,
      signals: { uid: anew?.metadata.uid, pause: { by: 'ana', reason: 'maintenance' } },
    });
    await world.temporal('workflow', 'signal', '-w', workflow, '--name', 'resume', '-i', '{"by":"ana"}');
    const resumed = await awaitRunning(world, at(name));
    expect(resumed.status).toMatchObject({ phase: 'Running', ready: '3/3', controlPaused: false });
    // So does a request by signal that is not done.
    const member = `${name}-1`;
    const uidOf = async () =>
      (await world.kube.get({ apiVersion: 'v1', kind: 'Pod', namespace: NAMESPACE, name: member }))?.metadata
        .uid;
    const before = await uidOf();
    const say = (signal: string, sent: object) =>
      world.temporal('workflow', 'signal', '-w', workflow, '--name', signal, '-i', JSON.stringify(sent));
    await say('pause', { by: 'ana' });
    await say('restart', { member, by: 'bob' });
    await awaitCondition(world, at(name), { type: 'Paused' });
    const requestsOf = async () => (await readCluster(world, NAMESPACE, name))?.status?.signals?.requests;
    await poll(async () => (await requestsOf())?.[0]?.ids !== undefined);
    await world.temporal('workflow', 'terminate', '-w', workflow, '--reason', 'a test');
    await world.stack.kubectl('annotate', 'etcd', name, '-n', NAMESPACE, 'test=again', '--overwrite');
    await poll(async () => (await world.temporal(...plan)).includes('Paused'));
    expect(await requestsOf()).toMatchObject([{ kind: 'restart', target: member, by: 'bob', ids: [before] }]);
    expect(await uidOf()).toBe(before);
    await say('resume', { by: 'ana' });
    await poll(async () => ![before, undefined].includes(await uidOf()));
    await poll(async () => (await readCluster(world, NAMESPACE, name))?.status?.signals === undefined);
    await discard(world, NAMESPACE, name);
  });
});

describe('a pause by an EtcdRequest', () => {
  test('does not hold a namespace that is deleted, where no one can ask to resume', async () => {
    const gone = { namespace: 'pause-gone', name: 'paused' };
    await createNamespace(world, gone.namespace);
    await world.kube.apply(manifest(gone.namespace, gone.name, { size: 1, version: '3.6.16' }));
    await awaitRunning(world, gone);
    await world.kube.apply({
      apiVersion: API_VERSION,
      kind: 'EtcdRequest',
      metadata: { namespace: gone.namespace, name: 'pause' },
      spec: { clusterRef: { name: gone.name }, action: 'Pause', by: 'admin' },
    } as Parameters<World['kube']['apply']>[0]);
    await awaitCondition(world, gone, { type: 'Paused' });
    // Fails when it is not gone by then.
    await world.stack.kubectl('delete', 'namespace', gone.namespace, '--timeout=90s');
  });
});
