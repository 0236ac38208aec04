/** Pods that a policy or a quota of the namespace refuses: found before a member is stopped or added, and reported with what to do. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { CLIENTS_ADMITTED, LABEL_CLIENTS } from '../../../src/api/names.ts';
import type { EtcdClusterSpec } from '../../../src/api/schemas/types.ts';
import type { KubeObject } from '../../../src/kube/port.ts';
import { awaitRunning, manifest, memberList, podsOf, readCluster, type World } from '../../stack/e2e.ts';
import { useNamespace } from '../../stack/e2e-namespace.ts';
import { poll } from '../../stack/poll.ts';

const NAMESPACE = 'refused-pods';
const NAME = 'strict';
const AT = { namespace: NAMESPACE, name: NAME };
const POLICY = 'refused-pods-e2e';
const HOLD = 'example.com/hold';
let world: World;

useNamespace(NAMESPACE, opened => void (world = opened));
afterAll(() => allow());

const kubectl = (...args: string[]) => world.stack.kubectl('-n', NAMESPACE, ...args);
const edit = (spec: EtcdClusterSpec) =>
  kubectl('patch', 'etcd', NAME, '--type=merge', '-p', JSON.stringify({ spec }));
const pod = async () => (await podsOf(world, NAMESPACE, NAME))[0];
const image = (of: KubeObject | undefined) =>
  (of?.['spec'] as { containers?: { image: string }[] } | undefined)?.containers?.[0]?.image;

/** For kinds that the operator's own client does not know. */
async function apply(kind: string, object: object): Promise<void> {
  const apiVersion = kind === 'ResourceQuota' ? 'v1' : 'admissionregistration.k8s.io/v1';
  const folder = await mkdtemp(join(tmpdir(), 'refused-pods-'));
  const file = join(folder, 'object.json');
  await writeFile(file, JSON.stringify({ apiVersion, kind, ...object }));
  await world.stack.kubectl('apply', '-f', file);
  await rm(folder, { recursive: true });
}

/** A policy that takes no pod of the namespace with etcd 3.6.16; returns when it is in force. */
async function forbid(): Promise<void> {
  const policy = {
    failurePolicy: 'Fail',
    matchConstraints: {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': NAMESPACE } },
      resourceRules: [
        { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['pods'] },
      ],
    },
    validations: [
      {
        expression: "object.spec.containers.all(c, !c.image.endsWith(':v3.6.16'))",
        message: 'etcd 3.6.16 has not been approved yet',
      },
    ],
  };
  const binding = { policyName: POLICY, validationActions: ['Deny'] };
  await apply('ValidatingAdmissionPolicy', { metadata: { name: POLICY }, spec: policy });
  await apply('ValidatingAdmissionPolicyBinding', { metadata: { name: POLICY }, spec: binding });
  const probe = ['set', 'image', `pod/${NAME}-0`, 'etcd=example.com/etcd:v3.6.16', '--dry-run=server'];
  await poll(
    () =>
      kubectl(...probe).then(
        () => undefined,
        (error: Error) => error.message.includes('not been approved') || undefined,
      ),
    { timeoutMs: 30_000 },
  );
}

async function allow(): Promise<void> {
  for (const kind of ['validatingadmissionpolicybinding', 'validatingadmissionpolicy'])
    await world.stack.kubectl('delete', kind, POLICY, '--ignore-not-found');
}

/** Sets the number of pods that the namespace may have, and waits until it counts. */
async function quota(pods: number): Promise<void> {
  const spec = { hard: { pods: String(pods) } };
  await apply('ResourceQuota', { metadata: { namespace: NAMESPACE, name: 'few' }, spec });
  await poll(
    async () =>
      (await kubectl('get', 'resourcequota', 'few', '-o', 'jsonpath={.status.hard.pods}')) === String(pods) ||
      undefined,
    { timeoutMs: 30_000 },
  );
}

/** Waits until the cluster says all of these words about its progress. */
const isTold = (...words: readonly string[]) =>
  poll(
    async () => {
      const { conditions = [] } = (await readCluster(world, NAMESPACE, NAME))?.status ?? {};
      const { message = '' } = conditions.find(({ type }) => type === 'Progressing') ?? {};
      return words.every(word => message.includes(word)) ? message : undefined;
    },
    {
      timeoutMs: 90_000,
      otherwise: async () => JSON.stringify((await readCluster(world, NAMESPACE, NAME))?.status, null, 1),
    },
  );

test('a policy against the new version stops no member, in place or in a new pod', async () => {
  await world.kube.apply(manifest(NAMESPACE, NAME, { size: 1, version: '3.6.5' }));
  await awaitRunning(world, AT);
  const before = await pod();
  await forbid();
  const words = [
    'would refuse Pod strict-0, so nothing was changed',
    `change ValidatingAdmissionPolicy ${POLICY}`,
  ];
  const tries: readonly (readonly [string, EtcdClusterSpec])[] = [
    ['PATCH', { version: '3.6.16' }],
    ['POST', { version: '3.6.16', etcd: { snapshotCount: 7_000 } }],
  ];
  for (const [verb, spec] of tries) {
    await edit(spec);
    console.log(await isTold(`${verb} /api/v1/namespaces/${NAMESPACE}/pods`, ...words));
    const now = await pod();
    expect(now?.metadata).toMatchObject({
      uid: before?.metadata.uid,
      labels: { [LABEL_CLIENTS]: CLIENTS_ADMITTED },
    });
    expect(image(now)).toMatch(/:v3\.6\.5$/);
    // Taken back, so that the next one begins again.
    await edit({ version: '3.6.5' });
    await awaitRunning(world, AT);
  }
  await allow();
  await edit({ version: '3.6.16' });
  await poll(async () => image(await pod())?.endsWith(':v3.6.16') === true || undefined, {
    timeoutMs: 120_000,
  });
  await awaitRunning(world, AT);
}, 400_000);

test('no learner is added that a quota has no room for, and it is when there is', async () => {
  await quota(1);
  await edit({ size: 2 });
  console.log(await isTold('would refuse Pod strict-1, so nothing was changed', 'raise ResourceQuota few'));
  expect(await memberList(world, NAMESPACE, `${NAME}-0`)).toHaveLength(1);
  await quota(2);
  await poll(async () => (await readCluster(world, NAMESPACE, NAME))?.status?.ready === '2/2' || undefined, {
    timeoutMs: 120_000,
  });
}, 300_000);

test('a quota that shrinks while a member is stopped is reported with what to do, and the member comes back', async () => {
  await edit({ size: 1 });
  await poll(async () => (await podsOf(world, NAMESPACE, NAME)).length === 1 || undefined, {
    timeoutMs: 120_000,
  });
  await awaitRunning(world, AT);
  const stopped = await pod();
  const name = stopped?.metadata.name ?? '';
  const setFinalizers = (finalizers: readonly string[] | null) =>
    kubectl('patch', 'pod', name, '--type=merge', '-p', JSON.stringify({ metadata: { finalizers } }));
  await setFinalizers([HOLD]);
  await edit({ etcd: { snapshotCount: 9_000 } });
  await poll(async () => (await pod())?.metadata.deletionTimestamp !== undefined || undefined, {
    timeoutMs: 120_000,
    intervalMs: 50,
  });
  await quota(0);
  await setFinalizers(null);
  console.log(
    await isTold('exceeded quota', 'to go on, raise ResourceQuota few', 'the operator tries again'),
  );
  await quota(2);
  await awaitRunning(world, AT);
  expect((await pod())?.metadata.uid).not.toBe(stopped?.metadata.uid);
}, 400_000);
