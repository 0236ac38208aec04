/** Looks for secrets wherever the operator writes: in what Kubernetes and Temporal keep, in logs, in metrics and in stores. */
import { OPERATOR_NAMESPACE } from '../../local/operator.ts';
import { secretText } from '../../src/activities/observe/certificate-secrets.ts';
import type { World } from './e2e.ts';
import { linesOf } from './stack-store.ts';

/** A text that the operator wrote, and where. */
export interface Written {
  readonly where: string;
  readonly text: string;
}

/** As which a secret might appear: as it is, within JSON or a URL, as hex, and within base64 at any of its three offsets. */
export function formsOf(secret: string): string[] {
  const texts = [secret, JSON.stringify(secret).slice(1, -1)];
  return [...new Set([...texts, encodeURIComponent(secret), ...texts.flatMap(encodings)])];
}

function encodings(text: string): string[] {
  const bytes = Buffer.from(text);
  const base64 = [0, 1, 2].flatMap(offset => {
    const whole = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    // The first and the last characters depend on what is beside it.
    const inner = whole.slice(offset === 0 ? 0 : offset + 1, -1);
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
  return [bytes.toString('hex'), ...base64];
}

/** The places in which any of the secrets is found. The secret itself is not told: this ends up in a log. */
export function leaks(secrets: readonly string[], written: readonly Written[]): string[] {
  return written.flatMap(({ where, text }) =>
    secrets.flatMap((secret, number) =>
      formsOf(secret).some(form => text.includes(form)) ? [`secret ${number + 1} is in ${where}`] : [],
    ),
  );
}

/** The private keys in the Secrets of a namespace, line by line. */
export async function privateKeysIn({ kube }: World, namespace: string): Promise<string[]> {
  const { items } = await kube.list({ apiVersion: 'v1', kind: 'Secret' }, { namespace });
  return items.flatMap(object =>
    Object.keys((object['data'] ?? {}) as Record<string, string>).flatMap(key => {
      const text = secretText(object, key) ?? '';
      return /^-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text) ? linesOf(text) : [];
    }),
  );
}

const KINDS = [
  ...['etcdclusters', 'etcdbackups', 'etcdrestores', 'pods', 'services', 'persistentvolumeclaims', 'events'],
  ...['configmaps', 'leases', 'poddisruptionbudgets', 'endpointslices', 'jobs'],
];

/** Everything that the operator wrote about one namespace, and everything that both of its replicas said. */
export async function writtenAbout(world: World, namespace: string): Promise<Written[]> {
  return [
    ...(await objectsOf(world, namespace)),
    ...(await objectsOf(world, OPERATOR_NAMESPACE)),
    ...(await saidByOperators(world)),
    ...(await historiesOf(world, namespace)),
  ];
}

async function objectsOf({ stack }: World, namespace: string): Promise<Written[]> {
  const ask = ['get', KINDS.join(','), '-o', 'json', '--show-managed-fields'];
  return [{ where: `objects of ${namespace}`, text: await stack.kubectl('-n', namespace, ...ask) }];
}

async function saidByOperators({ stack, kube }: World): Promise<Written[]> {
  const labelSelector = 'app.kubernetes.io/name=etcd-operator';
  const pod = { apiVersion: 'v1', kind: 'Pod' };
  const { items } = await kube.list(pod, { namespace: OPERATOR_NAMESPACE, labelSelector });
  const said = items.map(async ({ metadata: { name }, ...rest }) => {
    const { podIP, containerStatuses } = rest['status'] as {
      podIP: string;
      containerStatuses?: readonly { restartCount: number }[];
    };
    const logs = (...more: string[]) => stack.kubectl('-n', OPERATOR_NAMESPACE, 'logs', name, ...more);
    const metrics = [9464, 9465].map(async port => {
      const answer = await fetch(`http://${podIP}:${port}/metrics`);
      return { where: `metrics of ${name}, port ${port}`, text: await answer.text() };
    });
    const restarted = (containerStatuses?.[0]?.restartCount ?? 0) > 0;
    return [
      { where: `log of ${name}`, text: await logs() },
      ...(restarted ? [{ where: `earlier log of ${name}`, text: await logs('--previous') }] : []),
      ...(await Promise.all(metrics)),
    ];
  });
  return (await Promise.all(said)).flat();
}

/** Every run of every workflow of the namespace's resources, as Temporal exports it. */
async function historiesOf({ temporal }: World, namespace: string): Promise<Written[]> {
  const listed = JSON.parse(await temporal('workflow', 'list', '--limit', '5000', '--output', 'json')) as {
    readonly execution: { readonly workflowId: string; readonly runId: string };
  }[];
  const histories: Written[] = [];
  for (const { execution } of listed) {
    const { workflowId, runId } = execution;
    if (!workflowId.split('/').includes(namespace)) continue;
    const text = await temporal('workflow', 'show', '-w', workflowId, '-r', runId, '--output', 'json');
    histories.push({ where: `history of ${workflowId}`, text });
  }
  return histories;
}
