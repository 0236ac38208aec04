/** What is written on claims and pods that a deleted EtcdCluster leaves: whose they were, and how they are taken up again. Pure. */
import { domainOf } from '../../api/derived/domain.ts';
import { securityMade } from '../../api/derived/tls.ts';
import { ANNOTATION_TAKE_UP } from '../../api/names.ts';
import { canonical } from '../../api/values/canonical.ts';
import type { ClusterFacts } from './observation.ts';

/** The note, as it is read from an annotation that anybody may have edited. */
export interface LeftNote {
  /** The uid of the EtcdCluster. */
  readonly uid?: string;
  readonly incarnation?: string;
  /** etcd's cluster id; absent: it never formed. */
  readonly clusterID?: string;
  /** The members that voted, as they were seen last. */
  readonly voters?: readonly string[];
  /** How its traffic was secured, in the words of the specification. */
  readonly security?: string;
  /** What host names of members end in after `svc`. */
  readonly domain?: string;
}

/** What is written on them; undefined when nothing is recorded of the cluster. */
export function leftNote({ namespace, name, uid, object, status }: ClusterFacts): string | undefined {
  const { incarnation, clusterID } = status;
  if (incarnation === undefined) return undefined;
  const details = status.members?.details ?? [];
  const voters = details
    .filter(({ role }) => role !== 'Learner' && role !== 'Unstarted')
    .map(member => member.name);
  const note: LeftNote & { readonly takeUp: string } = {
    uid,
    incarnation: incarnation.token,
    ...(clusterID !== undefined && { clusterID }),
    voters: voters.length > 0 ? voters : incarnation.members.map(member => member.name),
    security: securityMade(status),
    domain: domainOf(object),
    takeUp: `create EtcdCluster ${namespace}/${name} with the annotation ${ANNOTATION_TAKE_UP}: ${incarnation.token}`,
  };
  return canonical(note);
}

/** Undefined for a note that is absent or no JSON object. */
export function readLeftNote(text: string | undefined): LeftNote | undefined {
  if (text === undefined) return undefined;
  try {
    const note: unknown = JSON.parse(text);
    return typeof note === 'object' && note !== null ? (note as LeftNote) : undefined;
  } catch {
    return undefined;
  }
}
