/** Raw pods → the facts that the planner knows. Pure translation. */
import {
  ANNOTATION_AUTHORITIES,
  ANNOTATION_CLUSTER_ID,
  ANNOTATION_DEFRAGMENTATION_BEGUN,
  ANNOTATION_DEFRAGMENTED,
  ANNOTATION_FORMER_IMAGE,
  ANNOTATION_IMAGE_REPLACED,
  ANNOTATION_INCARNATION,
  ANNOTATION_LEFT_BY,
  ANNOTATION_MADE_FROM,
  ANNOTATION_RENDERED,
  ANNOTATION_REPLACED_CONTAINER,
  ANNOTATION_SETTLED,
  ANNOTATION_VERSION,
  ANNOTATION_WRITE_SEEN,
  CLIENTS_ADMITTED,
  CLIENTS_WITHDRAWN,
  isReservedKey,
  LABEL_CLIENTS,
  memberLabels,
} from '../../api/names.ts';
import { parseTimestamp } from '../../api/values/time.ts';
import type { KubeObject } from '../../kube/port.ts';
import { containerNamed, ETCD_CONTAINER, statusNamed } from '../../objects/containers.ts';
import { firstStartOf } from '../../objects/first-start.ts';
import { readAuthorities } from '../../objects/trusted.ts';
import type { PodFacts } from '../../planner/model/observation.ts';
import { exitWords, type Memory, memoryOf } from './container-exit.ts';
import { hasController, isControlledBy } from './object-facts.ts';
import { type PodStatus, troubleOf } from './pod-trouble.ts';
import { phaseOf, readiness } from './pod-readiness.ts';

/**
 * What the planner knows of a pod. `ownerUid` is the uid of the cluster that asks, `cluster` its name where it matters which of its
 * labels the pod lacks.
 */
export function podFacts(pod: KubeObject, ownerUid: string, cluster?: string): PodFacts {
  const status = (pod['status'] ?? {}) as PodStatus;
  const { metadata } = pod;
  const memory = { ...memoryOf(pod, ETCD_CONTAINER), field: 'spec.pod.resources.limits.memory' };
  const { args = [], image } = containerNamed(pod, ETCD_CONTAINER) ?? {};
  return {
    name: metadata.name,
    uid: metadata.uid ?? '',
    owned: isControlledBy(pod, ownerUid),
    ...(!hasController(pod) && { unowned: true }),
    ...notesOf(metadata.annotations),
    phase: phaseOf(status),
    ...readiness(status, metadata.annotations?.[ANNOTATION_REPLACED_CONTAINER]),
    deleting: metadata.deletionTimestamp !== undefined,
    goneBy: parseTimestamp(metadata.deletionTimestamp),
    finalizers: metadata.finalizers,
    ip: status.podIP || undefined,
    node: (pod['spec'] as { nodeName?: string } | undefined)?.nodeName,
    peerUrl: peerUrlIn(args),
    image,
    formerImage: metadata.annotations?.[ANNOTATION_FORMER_IMAGE],
    trouble: troubleOf(status, { image, memory }),
    ...exitOf(status, memory),
    clients: clientsOf(metadata.labels?.[LABEL_CLIENTS]),
    container: containerIdOf(pod),
    ...(neverRan(status) && { unstarted: true as const }),
    ...timesOf(pod, status),
    firstStart: firstStartOf({ annotations: metadata.annotations, args }),
    ...(cluster !== undefined && labelsLacking(pod, cluster)),
  };
}

/**
 * Kubernetes, "Pod phase": Pending until every container was made for the first time. One that was made has an id.
 */
function neverRan(status: PodStatus): boolean {
  const { containerID, restartCount = 0, state, lastState } = statusNamed(status, ETCD_CONTAINER) ?? {};
  const hasEnded = state?.terminated !== undefined || lastState?.terminated !== undefined;
  return status.phase === 'Pending' && !containerID && restartCount === 0 && !hasEnded;
}

/** How often etcd was started again, and why it ended last, unless it was asked to. */
function exitOf(status: PodStatus, memory: Memory): Pick<PodFacts, 'restarts' | 'lastExit'> {
  const { restartCount = 0, state, lastState } = statusNamed(status, ETCD_CONTAINER) ?? {};
  const ended = state?.terminated ?? lastState?.terminated;
  if (restartCount === 0 || ended === undefined || ended.exitCode === 0) return {};
  const { reason = 'Error', exitCode, finishedAt } = ended;
  const message = exitWords(ended, memory) ?? `${reason}, exit code ${exitCode}`;
  return { restarts: restartCount, lastExit: { reason, message, at: parseTimestamp(finishedAt) } };
}

/** What the operator wrote on the pod when it made it. */
function notesOf(
  annotations: Readonly<Record<string, string>> = {},
): Pick<
  PodFacts,
  | 'leftBy'
  | 'token'
  | 'clusterId'
  | 'version'
  | 'stamp'
  | 'madeFrom'
  | 'settledIn'
  | 'authorities'
  | 'defragmentedAt'
  | 'defragmentationBegun'
  | 'writeSeenAt'
> {
  return {
    leftBy: annotations[ANNOTATION_LEFT_BY],
    token: annotations[ANNOTATION_INCARNATION],
    clusterId: annotations[ANNOTATION_CLUSTER_ID],
    version: annotations[ANNOTATION_VERSION],
    stamp: annotations[ANNOTATION_RENDERED],
    madeFrom: annotations[ANNOTATION_MADE_FROM],
    settledIn: annotations[ANNOTATION_SETTLED],
    authorities: readAuthorities(annotations[ANNOTATION_AUTHORITIES]),
    defragmentedAt: parseTimestamp(annotations[ANNOTATION_DEFRAGMENTED]),
    defragmentationBegun: begunIn(annotations[ANNOTATION_DEFRAGMENTATION_BEGUN]),
    writeSeenAt: parseTimestamp(annotations[ANNOTATION_WRITE_SEEN]),
  };
}

/** Written by {@link begunNow}; undefined without it, and of what somebody else wrote. */
function begunIn(note = ''): PodFacts['defragmentationBegun'] {
  const [time, container] = note.split(' ');
  const at = parseTimestamp(time);
  return at === undefined || container === undefined ? undefined : { at, container };
}

/** What is noted of a pod whose member is about to be defragmented; undefined while it is not known what runs in it. */
export function begunNow({ container }: Pick<PodFacts, 'container'>, now: number): string | undefined {
  return container === undefined ? undefined : `${new Date(now).toISOString()} ${container}`;
}

/** The labels that everything is found by and that somebody took off or changed. */
function labelsLacking({ metadata }: KubeObject, cluster: string): Pick<PodFacts, 'labelsLacking'> {
  const lacking = Object.entries(memberLabels(cluster, metadata.name)).filter(
    ([key, value]) => isReservedKey(key) && metadata.labels?.[key] !== value,
  );
  return lacking.length === 0 ? {} : { labelsLacking: Object.fromEntries(lacking) };
}

/** The container of etcd that the pod runs, as its kubelet reported last; undefined before it has any. */
export function containerIdOf(pod: KubeObject): string | undefined {
  return statusNamed((pod['status'] ?? {}) as PodStatus, ETCD_CONTAINER)?.containerID || undefined;
}

const PEER_URL_FLAG = '--initial-advertise-peer-urls=';

function peerUrlIn(args: readonly string[]): string | undefined {
  return args.find(flag => flag.startsWith(PEER_URL_FLAG))?.slice(PEER_URL_FLAG.length);
}

/** A value that nobody but users can have given counts as none. */
function clientsOf(label: string | undefined): PodFacts['clients'] {
  return label === CLIENTS_ADMITTED || label === CLIENTS_WITHDRAWN ? label : undefined;
}

function timesOf(
  { metadata }: KubeObject,
  { conditions = [] }: PodStatus,
): Pick<PodFacts, 'createdAt' | 'readyChangedAt' | 'imageReplacedAt'> {
  const ready = conditions.find(({ type }) => type === 'Ready');
  const replaced = metadata.annotations?.[ANNOTATION_IMAGE_REPLACED];
  return {
    createdAt: parseTimestamp(metadata.creationTimestamp) ?? 0,
    readyChangedAt: parseTimestamp(ready?.lastTransitionTime),
    imageReplacedAt: parseTimestamp(replaced),
  };
}
