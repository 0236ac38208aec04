/**
 * Copies of a cluster, for fleets that would take hours to create: its objects and its status, as the operator would have written them
 * for a cluster of another name. Only for clusters without TLS that keep their data in their pods.
 */
import { ANNOTATION_RENDERED, API_VERSION, serialOf } from '../../../src/api/names.ts';
import type { EtcdCluster } from '../../../src/api/schemas/types.ts';
import { initialClusterId, initialMemberId } from '../../../src/etcd/cluster-id.ts';
import type { KubeClient, KubeObject } from '../../../src/kube/port.ts';
import { disruptionBudget, minAvailableOf } from '../../../src/objects/budget.ts';
import type { ManifestObject } from '../../../src/objects/manifest.ts';
import { memberPod } from '../../../src/objects/pod.ts';
import { clientService, peerService } from '../../../src/objects/services.ts';
import { poll } from '../../../test/stack/poll.ts';
import { inOrder } from '../at-once.ts';

const AT_ONCE = 32;

interface PodStatus {
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

/** A cluster that the operator has created and is done with. */
interface Original {
  readonly cluster: EtcdCluster;
  /** Those of its pods, in the order of their serials. */
  readonly annotations: readonly Readonly<Record<string, string>>[];
}

export interface Copying {
  readonly namespace: string;
  /** The name of the cluster that is copied. */
  readonly original: string;
  readonly names: readonly string[];
  readonly onWritten: (count: number) => void;
}

/**
 * Writes a copy of a cluster under each name, while no operator runs.
 * @throws when the original has no status of a cluster that runs, or a call fails
 */
export async function copyCluster(
  kube: KubeClient,
  { namespace, original, names, onWritten }: Copying,
): Promise<void> {
  const found = await readOriginal(kube, { namespace, name: original });
  let written = 0;
  await inOrder(names.length, AT_ONCE, async at => {
    await writeCopy(kube, found, names[at] ?? '');
    onWritten(++written);
  });
}

async function readOriginal(
  kube: KubeClient,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<Original> {
  const ref = { apiVersion: API_VERSION, kind: 'EtcdCluster', namespace, name };
  const cluster = (await kube.get(ref)) as unknown as EtcdCluster | undefined;
  if (cluster?.status?.clusterID === undefined)
    throw new Error(`${namespace}/${name} is not created yet: there is nothing to copy`);
  const members = cluster.status.incarnation?.members ?? [];
  const pods = await Promise.all(
    members.map(member => kube.get({ apiVersion: 'v1', kind: 'Pod', namespace, name: member.name })),
  );
  return { cluster, annotations: pods.map(pod => pod?.metadata.annotations ?? {}) };
}

async function writeCopy(kube: KubeClient, original: Original, name: string): Promise<void> {
  const { apiVersion, kind, metadata, spec } = original.cluster;
  const { namespace, finalizers, annotations } = metadata as KubeObject['metadata'];
  const created = await kube.create({
    apiVersion,
    kind,
    metadata: { name, namespace, finalizers, annotations },
    spec,
  } as KubeObject);
  const { uid = '' } = created.metadata;
  const copied = exchange(original.cluster, { name, uid });
  const status = copied(original.cluster.status);
  const token = status?.incarnation?.token ?? '';
  const cluster = { ...created, status } as unknown as EtcdCluster;
  const members = status?.incarnation?.members.map(member => member.name) ?? [];
  const start = { state: 'new', members } as const;
  const pods = members.map(member => memberPod(cluster, { name: member, token, start, storage: 'EmptyDir' }));
  const voters = members.length;
  const budget = disruptionBudget(cluster, minAvailableOf({ voters, learners: 0, wanted: voters }));
  const objects = [peerService(cluster), clientService(cluster), budget, ...pods];
  await Promise.all(objects.map(object => kube.create(object)));
  await Promise.all(pods.map(pod => noteOn(kube, pod, copied(original.annotations))));
  const ref = { apiVersion, kind, namespace, name };
  await kube.patch(ref, { status }, { type: 'merge', subresource: 'status' });
}

/** Waits until a member has started, and notes on its pod what the operator notes then, such as that it never starts as a new one again. */
async function noteOn(
  kube: KubeClient,
  { apiVersion, kind, metadata: { namespace, name, annotations = {} } }: ManifestObject,
  ofAll: Original['annotations'],
): Promise<void> {
  const ref = { apiVersion, kind, namespace, name };
  const isReady = async (): Promise<boolean> => {
    const status = (await kube.get(ref))?.['status'] as PodStatus | undefined;
    return status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
  };
  await poll(isReady, { otherwise: () => `pod ${name} does not become ready` });
  // The parts of what was rendered have other hashes under another name.
  const { [ANNOTATION_RENDERED]: rendered } = annotations;
  const noted = { ...ofAll[serialOf(name) ?? 0], [ANNOTATION_RENDERED]: rendered };
  await kube.patch(ref, { metadata: { annotations: noted } }, { type: 'merge' });
}

/** What stands in the original, with the names, uids and ids of its copy. */
function exchange(
  { metadata, status }: EtcdCluster,
  copy: { readonly name: string; readonly uid: string },
): <T>(value: T) => T {
  const { incarnation, clusterID = '' } = status ?? {};
  const { token = '', members = [] } = incarnation ?? {};
  const renamed = (text: string): string => text.replaceAll(metadata.name, copy.name);
  /** Tokens and the ids of workflows have the beginning of a uid. */
  const begins = (uid: string): string => uid.slice(0, uid.indexOf('-'));
  const tokenOfCopy = renamed(token).replace(begins(metadata.uid), begins(copy.uid));
  const urls = members.map(({ peerURL }) => [peerURL]);
  const urlsOfCopy = urls.map(ofMember => ofMember.map(renamed));
  const exchanged = [
    [metadata.uid, copy.uid],
    [token, tokenOfCopy],
    [begins(metadata.uid), begins(copy.uid)],
    [clusterID, initialClusterId(tokenOfCopy, urlsOfCopy)],
    ...urls.map((ofMember, at) => [
      initialMemberId(token, ofMember),
      initialMemberId(tokenOfCopy, urlsOfCopy[at] ?? []),
    ]),
  ] as const;
  return <T>(value: T): T => {
    if (value === undefined) return value;
    const text = exchanged.reduce(
      (all, [from = '', to = '']) => all.replaceAll(from, to),
      JSON.stringify(value),
    );
    return JSON.parse(renamed(text)) as T;
  };
}
