import {
  ANNOTATION_FORMER_IMAGE,
  ANNOTATION_IMAGE_REPLACED,
  ANNOTATION_INCARNATION,
  ANNOTATION_RENDERED,
  ANNOTATION_REPLACED_CONTAINER,
  ANNOTATION_SETTLED,
  ANNOTATION_VERSION,
} from '../../api/names.ts';
import type { EtcdCluster } from '../../api/schemas/types.ts';
import { timestamp } from '../../api/values/time.ts';
import { compareVersions } from '../../api/versions/compare.ts';
import { containerNamed, containersOf, ETCD_CONTAINER } from '../../objects/containers.ts';
import { memberPod } from '../../objects/pod.ts';
import { noteDataVersion } from '../cluster/data-version.ts';
import { recordClusterEvent } from '../runtime/cluster-events.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import { readLivingCluster } from '../resource/etcd-cluster.ts';
import { isRefusal, preconditionChanged } from '../runtime/failures.ts';
import { POD } from '../runtime/kinds.ts';
import { containerIdOf, podFacts } from '../observe/pod-facts.ts';
import type { KubeObject } from '../../kube/port.ts';
import { withdraw } from './admit-members.ts';
import { holdBudget } from './shared/hold-budget.ts';
import { tryPatch } from './shared/trial.ts';
import { stillPlanned } from './shared/still-planned.ts';
import type { StepOf } from '../../planner/model/step-catalogue.ts';
import type { Perform } from './shared/perform.ts';

/**
 * Gives this very pod (by uid) the image of another version; its kubelet ends the container with SIGTERM and starts the new
 * one on the same volume. A pod that has the image already is left alone. The change is tried before clients are led away for it, and every
 * gate is looked at once more right before.
 */
export const replaceImage: Perform<'replaceImage'> = async (deps, ref, step) => {
  const at = { ...POD, namespace: ref.namespace, name: step.member };
  const read = async () => {
    const found = await deps.kube.get(at);
    if (found?.metadata.uid === step.uid) return found;
    throw preconditionChanged(`pod ${step.member} has been replaced`);
  };
  const before = await read();
  const note = () =>
    noteDataVersion(deps.kube, { namespace: ref.namespace, name: step.member }, step.version);
  if (isDone(before, step)) return note();
  const living = await readLivingCluster(deps.kube, ref);
  await tryPatch(deps.kube, at, changesOf({ cluster: living, pod: before, step, ref, now: deps.now() }));
  await withdraw(deps, ref, [before.metadata]);
  const pod = await read();
  const { cluster, situation } = await stillPlanned(deps, ref, step);
  const patch = [...asRead(pod), ...changesOf({ cluster, pod, step, ref, now: deps.now() })];
  await holdBudget(deps, ref, { member: step.member, cluster, seen: situation.pods });
  await deps.kube.patch(at, patch, { type: 'json' }).catch(async error => {
    // A patch whose test fails is refused as invalid (422): the pod has changed, and the next plan sees how.
    const found = isRefusal(error) ? await read() : pod;
    if (found.metadata.resourceVersion === pod.metadata.resourceVersion) throw error;
    throw preconditionChanged(`pod ${step.member} has changed`);
  });
  await note();
  const message = `${step.member} restarts with etcd ${step.version}: ${step.because}`;
  recordClusterEvent(deps, ref, { reason: 'MemberUpgraded', message });
};

/** The parts of a JSON patch that fail when the pod is not as it was read. */
function asRead({ metadata, spec }: KubeObject): readonly object[] {
  const index = containersOf({ spec }).findIndex(({ name }) => name === ETCD_CONTAINER);
  return [
    { op: 'test', path: '/metadata/uid', value: metadata.uid },
    { op: 'test', path: '/metadata/resourceVersion', value: metadata.resourceVersion },
    { op: 'test', path: `/spec/containers/${index}/name`, value: ETCD_CONTAINER },
  ];
}

/** What is changed about a pod. */
function changesOf({ cluster, pod, step, ref, now }: Replacement): readonly object[] {
  const wanted = memberPod(cluster, {
    name: step.member,
    token: pod.metadata.annotations?.[ANNOTATION_INCARNATION] ?? '',
    start: { state: 'restart' },
    storage: cluster.status?.storage?.kind ?? 'PersistentVolumeClaim',
    version: step.version,
    image: step.image,
  });
  const image = containerNamed({ spec: wanted.spec }, ETCD_CONTAINER)?.image;
  const index = containersOf(pod).findIndex(({ name }) => name === ETCD_CONTAINER);
  if (index < 0) throw preconditionChanged(`pod ${step.member} has no container ${ETCD_CONTAINER}`);
  const stamp = wanted.metadata.annotations?.[ANNOTATION_RENDERED] ?? '';
  // Where somebody has put the image there by hand the kubelet starts no other container: this one continues.
  const replaced = containersOf(pod)[index]?.image === image ? undefined : containerIdOf(pod);
  return [
    { op: 'replace', path: `/spec/containers/${index}/image`, value: image },
    annotate(ANNOTATION_VERSION, step.version),
    annotate(ANNOTATION_RENDERED, stamp),
    annotate(ANNOTATION_IMAGE_REPLACED, timestamp(now)),
    ...unsettled(pod, step.version).map(key => ({ op: 'remove', path: annotationPath(key) })),
    ...former(pod, ref.uid).map(ran => annotate(ANNOTATION_FORMER_IMAGE, ran)),
    ...(replaced === undefined ? [] : [annotate(ANNOTATION_REPLACED_CONTAINER, replaced)]),
  ];
}

interface Replacement {
  readonly cluster: EtcdCluster;
  readonly pod: KubeObject;
  readonly step: StepOf<'replaceImage'>;
  readonly ref: ClusterRef;
  readonly now: number;
}

/** As a part of a JSON patch. */
function annotate(key: string, value: string) {
  return { op: 'add', path: annotationPath(key), value };
}

function annotationPath(key: string): string {
  return `/metadata/annotations/${key.replaceAll('/', '~1')}`;
}

/** With an older minor the member writes again what a newer one cannot read. */
function unsettled(pod: KubeObject, version: string): string[] {
  const settledIn = pod.metadata.annotations?.[ANNOTATION_SETTLED];
  const isOlder = settledIn !== undefined && compareVersions(version, `${settledIn}.0`) < 0;
  return isOlder ? [ANNOTATION_SETTLED] : [];
}

/** The image with which the member is ready now; none while it is not. */
function former(pod: KubeObject, ownerUid: string): string[] {
  const { ready, image } = podFacts(pod, ownerUid);
  return ready && image !== undefined ? [image] : [];
}

function isDone(pod: KubeObject, { version, image }: StepOf<'replaceImage'>): boolean {
  if (pod.metadata.annotations?.[ANNOTATION_VERSION] !== version) return false;
  return image === undefined || containerNamed(pod, ETCD_CONTAINER)?.image === image;
}
