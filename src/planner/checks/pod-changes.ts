/**
 * How a member's pod differs from the one that would be made now, and why: because the specification was changed, or because
 * another release of the operator renders it. Only the first is a wish of somebody (docs/decisions/0036-an-absent-field-keeps-its-value.md).
 */
import { securitySwitch } from '../../api/derived/tls.ts';
import { ANNOTATION_RENDERED } from '../../api/names.ts';
import type { EtcdCluster } from '../../api/schemas/types.ts';
import { clusterAtPodCreation, madeFrom } from '../../objects/made-from.ts';
import type { ManifestObject } from '../../objects/manifest.ts';
import { memberPod } from '../../objects/pod.ts';
import { differences } from '../../objects/rendered.ts';
import type { Observation, PodFacts } from '../model/observation.ts';

/** Differences in words, such as `argument --snapshot-count changed`. */
export interface PodChanges {
  /** By a change of the specification. */
  readonly asked: readonly string[];
  /** By another release of the operator. */
  readonly rendered: readonly string[];
}

const NONE: PodChanges = { asked: [], rendered: [] };

/** What is different about the pod of a member. Nothing is said of a pod without a stamp: the specification of the pod when it was created is not known. */
export function podChanges(observation: Observation, pod: PodFacts): PodChanges {
  const { object } = observation.cluster;
  const wanted = rendered(observation, pod, object);
  if (wanted === undefined || pod.stamp === undefined) return NONE;
  const all = differences(pod.stamp, wanted);
  if (all.length === 0) return NONE;
  if (pod.madeFrom === Object.values(madeFrom(object))[0]) return { asked: [], rendered: all };
  const then = clusterAtPodCreation(object, pod.madeFrom);
  const before = then && renderedThen(observation, pod, then);
  // Somebody took the note off, or edited it: what cannot be distinguished is taken for asked for.
  if (before === undefined) return { asked: all, rendered: [] };
  return {
    asked: differences(before.metadata.annotations?.[ANNOTATION_RENDERED], wanted),
    rendered: differences(pod.stamp, before),
  };
}

/** The only part of a running pod's container that Kubernetes lets anybody change. */
const IMAGE = 'spec.containers[0].image changed';

/** What besides its image would have to change for a pod to run this version. A pod without a stamp is not known: all of it. */
export function changesBesidesImage(
  observation: Observation,
  pod: PodFacts,
  version: string,
): readonly string[] {
  const wanted = rendered(observation, { ...pod, version }, observation.cluster.object);
  if (wanted === undefined || pod.stamp === undefined)
    return ['the specification of the pod when it was created is not known'];
  return differences(pod.stamp, wanted).filter(change => change !== IMAGE);
}

/** As {@link rendered}; undefined also for a note that somebody edited into nonsense. */
function renderedThen(
  observation: Observation,
  pod: PodFacts,
  then: EtcdCluster,
): ManifestObject | undefined {
  try {
    return rendered(observation, pod, then);
  } catch {
    return undefined;
  }
}

/**
 * The pod as this release makes it from a specification; undefined before there is anything to make one from, and while it asks for another way of
 * TLS than the cluster has: no pod is made of that.
 */
function rendered(
  { cluster: { status } }: Observation,
  pod: PodFacts,
  object: EtcdCluster,
): ManifestObject | undefined {
  const { incarnation, storage, currentVersion } = status;
  if (incarnation === undefined || storage === undefined || securitySwitch(object) !== undefined)
    return undefined;
  return memberPod(object, {
    name: pod.name,
    token: incarnation.token,
    start: { state: 'restart' },
    storage: storage.kind,
    version: pod.version ?? currentVersion,
  });
}
