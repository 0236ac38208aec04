import { describe, expect, test } from 'vitest';
import { removeByHand, timeByHand, timeToAvailable } from '../stack/creation.ts';
import {
  awaitCondition,
  awaitRunning,
  claimsOf,
  discard,
  holds,
  manifest,
  memberList,
  podsOf,
  readCluster,
  removeNamespace,
  sample,
  type World,
} from '../stack/e2e.ts';
import { useNamespace } from '../stack/e2e-namespace.ts';
import { poll } from '../stack/poll.ts';

const NAMESPACE = 'creation';
const EXAMPLE = { namespace: NAMESPACE, name: 'example' };
let world: World;

useNamespace(NAMESPACE, opened => void (world = opened));

describe('the sample resource, unchanged', () => {
  test('becomes three ready members of version 3.5.3 on three nodes', async () => {
    await world.kube.apply(sample(NAMESPACE));
    const cluster = await awaitRunning(world, EXAMPLE);
    expect(holds(cluster, 'Available')).toBe(true);
    expect(cluster.status).toMatchObject({
      phase: 'Running',
      size: 3,
      ready: '3/3',
      currentVersion: '3.5.3',
      serviceName: 'example-client',
    });
    const pods = await podsOf(world, NAMESPACE, 'example');
    expect(pods.map(pod => pod.metadata.name).sort()).toEqual(['example-0', 'example-1', 'example-2']);
    const specs = pods.map(pod => pod['spec'] as { nodeName: string; containers: { image: string }[] });
    expect(new Set(specs.map(spec => spec.nodeName)).size).toBe(3);
    expect(specs.map(spec => spec.containers[0]?.image)).toEqual(
      Array(3).fill('gcr.io/etcd-development/etcd:v3.5.3'),
    );
    const members = await memberList(world, NAMESPACE, 'example-0');
    expect(members.map(member => member.name).sort()).toEqual(['example-0', 'example-1', 'example-2']);
    expect(members.filter(member => member.isLearner)).toEqual([]);
  });

  test('can be written and read through the client Service', async () => {
    const etcdctl = async (...args: string[]) =>
      world.stack.kubectl(
        '-n',
        NAMESPACE,
        'exec',
        'example-0',
        '--',
        'etcdctl',
        '--endpoints',
        'http://example-client:2379',
        ...args,
      );
    await etcdctl('put', 'through/the/service', 'yes');
    expect((await etcdctl('get', 'through/the/service', '--print-value-only')).trim()).toBe('yes');
  });

  test('shows the same story in kubectl and in Temporal', async () => {
    const cluster = await readCluster(world, NAMESPACE, 'example');
    const workflow = cluster?.status?.workflowID ?? '';
    expect(workflow).toBe(`etcdcluster/${NAMESPACE}/example/${cluster?.metadata.uid.slice(0, 8)}`);
    const described = await world.stack.kubectl('-n', NAMESPACE, 'describe', 'etcd', 'example');
    for (const reason of ['MembersCreated', 'ClusterFormed', 'Available'])
      expect(described).toContain(reason);
    const listed = await world.stack.kubectl('-n', NAMESPACE, 'get', 'etcd');
    expect(listed).toMatch(/example\s+3\/3\s+3\s+3\.5\.3\s+Running/);
    const answer = await world.temporal(
      'workflow',
      'query',
      '-w',
      workflow,
      '--name',
      'status',
      '-o',
      'json',
    );
    expect(answer).toContain('"membersReady": 3');
    const query = `EtcdName="example" AND EtcdNamespace="${NAMESPACE}" AND EtcdPhase="Running" AND EtcdHealthy=true`;
    // Temporal writes what is searched by after it has answered the workflow.
    await poll(
      async () => (await world.temporal('workflow', 'list', '-q', query, '-o', 'json')).includes(workflow),
      {
        otherwise: () => `${workflow} is not found by ${query}`,
      },
    );
  });

  test('leaves nothing behind when it is deleted', async () => {
    await world.stack.kubectl('-n', NAMESPACE, 'delete', 'etcd', 'example', '--timeout=90s');
    expect(await podsOf(world, NAMESPACE, 'example')).toEqual([]);
    await poll(async () => (await claimsOf(world, NAMESPACE, 'example')).length === 0);
    await poll(
      async () =>
        !(await world.stack.kubectl('-n', NAMESPACE, 'get', 'services,pdb', '-o', 'name')).includes(
          'example',
        ),
    );
  });
});

describe('a cluster that cannot be created', () => {
  test('says why, creates nothing, and continues once it is corrected', async () => {
    await world.kube.apply(manifest(NAMESPACE, 'old', { size: 1, version: '3.2.13' }));
    const at = { namespace: NAMESPACE, name: 'old' };
    const refused = await awaitCondition(world, at, { type: 'VersionSupported', status: 'False' });
    expect(refused.status).toMatchObject({ phase: 'Failed' });
    expect(holds(refused, 'Available', 'False')).toBe(true);
    expect(await podsOf(world, NAMESPACE, 'old')).toEqual([]);
    await world.kube.apply(manifest(NAMESPACE, 'old', { size: 1, version: '3.6.16' }));
    expect((await awaitRunning(world, at)).status).toMatchObject({
      phase: 'Running',
      currentVersion: '3.6.16',
    });
    await discard(world, NAMESPACE, 'old');
  });

  test('with an image that does not exist reports that, and slows no other cluster', async () => {
    // Nobody has this image, and there is no registry to ask.
    await world.kube.apply(manifest(NAMESPACE, 'sick', { size: 3, version: '3.6.15' }));
    const sick = { namespace: NAMESPACE, name: 'sick' };
    const blocked = await poll(
      async () => {
        const cluster = await readCluster(world, NAMESPACE, 'sick');
        const progressing = cluster?.status?.conditions?.find(condition => condition.type === 'Progressing');
        return progressing?.reason === 'Blocked' ? progressing : undefined;
      },
      { timeoutMs: 60_000 },
    );
    expect(blocked.message).toMatch(/sick-\d: ImagePullBackOff \(the image \S+:v3\.6\.15 cannot be pulled\)/);
    const seconds = await timeToAvailable(
      world,
      manifest(NAMESPACE, 'beside-a-sick-one', { size: 3, version: '3.5.3' }),
    );
    const byHand = await timeByHand(world, manifest(NAMESPACE, 'by-hand', { size: 3, version: '3.5.3' }));
    console.log(
      `apply to Available beside a sick cluster: ${seconds.toFixed(1)} s, by hand ${byHand.toFixed(1)} s, ratio ${(seconds / byHand).toFixed(2)}`,
    );
    await removeByHand(world, manifest(NAMESPACE, 'by-hand', {}));
    expect(holds(await readCluster(world, NAMESPACE, sick.name), 'Available')).toBe(false);
    await discard(world, NAMESPACE, 'sick', 'beside-a-sick-one');
  });
});

test('a namespace goes with the clusters in it', async () => {
  await removeNamespace(world, NAMESPACE);
});
