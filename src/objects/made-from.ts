/**
 * The specification that a pod was made from, on the pod itself: with it an operator can see what changed because
 * somebody asked for it from what changed because it is another release. Pure.
 */
import { ANNOTATION_MADE_FROM } from '../api/names.ts';
import { withDefaults } from '../api/defaults/etcd-cluster.ts';
import { type Security, securityOf } from '../api/derived/tls.ts';
import type { EtcdCluster, EtcdClusterSpec } from '../api/schemas/types.ts';
import { canonical } from '../api/values/canonical.ts';

/** Of one object Kubernetes keeps 256 KiB of annotations, and a user may fill most of that. */
const MOST_BYTES = 32_768;

/** The annotation with it; none for a specification of absurd size, whose pods are then compared as they are. */
export function madeFrom(cluster: EtcdCluster): Readonly<Record<string, string>> {
  const text = canonical({ spec: cluster.spec, security: securityOf(cluster) });
  return text.length > MOST_BYTES ? {} : { [ANNOTATION_MADE_FROM]: text };
}

/** `cluster` with the specification that the annotation contains; undefined without one, or when it cannot be read. */
export function clusterAtPodCreation(
  cluster: EtcdCluster,
  annotation: string | undefined,
): EtcdCluster | undefined {
  const note = readNote(annotation);
  if (note === undefined) return undefined;
  const { spec, security } = note;
  const { tls: _, ...status } = cluster.status ?? {};
  return { ...cluster, spec, status: security === undefined ? status : { ...status, tls: security } };
}

/** The specification that the annotation contains; undefined without one, or when it cannot be read. */
export function specificationNoted(annotation: string | undefined): EtcdClusterSpec | undefined {
  return readNote(annotation)?.spec;
}

function readNote(
  annotation: string | undefined,
): { readonly spec: EtcdClusterSpec; readonly security?: Security } | undefined {
  if (annotation === undefined) return undefined;
  try {
    const { spec, security } = JSON.parse(annotation) as { spec?: EtcdClusterSpec; security?: Security };
    if (typeof spec !== 'object' || spec === null) return undefined;
    // Somebody may have edited it into what no schema has seen: nothing that cannot be read as a specification is one.
    withDefaults(spec);
    return { spec, ...(security !== undefined && { security }) };
  } catch {
    return undefined;
  }
}
