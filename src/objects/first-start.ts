/**
 * How a member starts while its volume holds no log: who the initial cluster is, and whether it is new. etcd never reads
 * it again afterwards, but a volume can be emptied under a running pod, and then etcd would read it once more and
 * come back without what it has acknowledged. So its flags come from annotations, which the kubelet resolves at every start
 * of the container (downward API), and which are sealed when the member was seen started: from then on they say
 * to join a cluster of itself alone, which etcd ignores where its log is and refuses where it is not.
 *
 * By arguments that name variables, not by variables of etcd's own: without its annotations etcd would start with its
 * defaults, a new cluster of itself; with an empty argument it does not start at all (tried with 3.5, 3.6 and 3.7). Pure.
 */
import { ANNOTATION_INITIAL_CLUSTER, ANNOTATION_INITIAL_CLUSTER_STATE } from '../api/names.ts';
import { INITIAL_CLUSTER_ENV, INITIAL_CLUSTER_STATE_ENV } from '../api/values/reserved-environment.ts';

/** How a member starts; etcd reads it only while its data directory has no log. */
export type MemberStart =
  /** Bootstrap: every initial member's name. Only while no member of this incarnation was ever seen started. */
  | { readonly state: 'new'; readonly members: readonly string[] }
  /** A member that has a log. It is sealed from the beginning. */
  | { readonly state: 'restart' }
  /** A learner that was just added: the member list of that moment, itself included. */
  | { readonly state: 'join'; readonly members: readonly NamedUrl[] };

export interface NamedUrl {
  readonly name: string;
  readonly peerUrl: string;
}

/** The flags, whose values come from the annotations. */
export const FIRST_START_FLAGS: readonly (readonly [name: string, value: string])[] = [
  ['initial-cluster', `$(${INITIAL_CLUSTER_ENV})`],
  ['initial-cluster-state', `$(${INITIAL_CLUSTER_STATE_ENV})`],
];

/** The variables that those flags name. */
export const FIRST_START_ENV = [
  [INITIAL_CLUSTER_ENV, ANNOTATION_INITIAL_CLUSTER] as const,
  [INITIAL_CLUSTER_STATE_ENV, ANNOTATION_INITIAL_CLUSTER_STATE] as const,
].map(([name, key]) => ({
  name,
  // Spelled out as the apiserver would complete it.
  valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: `metadata.annotations['${key}']` } },
}));

type Annotations = Readonly<Record<string, string>>;

/**
 * The annotations of a pod that is to be made. Throws a RangeError for a start that leaves the member itself out, or has
 * another URL of it.
 */
export function firstStartAnnotations(
  start: MemberStart,
  self: NamedUrl,
  urlOf: (name: string) => string,
): Annotations {
  if (start.state === 'restart') return sealedAnnotations(self);
  const members =
    start.state === 'join' ? start.members : start.members.map(name => ({ name, peerUrl: urlOf(name) }));
  if (!members.some(({ name, peerUrl }) => name === self.name && peerUrl === self.peerUrl)) {
    throw new RangeError(`the initial cluster of ${self.name} does not contain ${self.name}=${self.peerUrl}`);
  }
  return annotations(members, start.state === 'new' ? 'new' : 'existing');
}

/** The annotations of a member that was seen started: on an empty volume it refuses to start. */
export function sealedAnnotations(self: NamedUrl): Annotations {
  return annotations([self], 'existing');
}

function annotations(members: readonly NamedUrl[], state: 'new' | 'existing'): Annotations {
  return {
    [ANNOTATION_INITIAL_CLUSTER]: members.map(({ name, peerUrl }) => `${name}=${peerUrl}`).join(','),
    [ANNOTATION_INITIAL_CLUSTER_STATE]: state,
  };
}

/** What a member would do on an empty volume, as its pod says. */
export type FirstStart =
  /** Refuse: its initial cluster is itself alone. */
  | 'sealed'
  /** Bootstrap, join, or whatever somebody wrote into its annotations: it can be sealed. */
  | 'open'
  /** Bootstrap or join until its pod is created again: its arguments say so themselves, as of a pod that somebody made by hand. */
  | 'fixed';

/** Reads it back from a pod's annotations and the arguments of its etcd. */
export function firstStartOf(pod: {
  readonly annotations: Annotations | undefined;
  readonly args: readonly string[];
}): FirstStart {
  const flag = (name: string): string => {
    const prefix = `--${name}=`;
    return pod.args.find(argument => argument.startsWith(prefix))?.slice(prefix.length) ?? '';
  };
  const alone = sealedAnnotations({ name: flag('name'), peerUrl: flag('initial-advertise-peer-urls') });
  const annotations = pod.annotations ?? {};
  const keys = Object.keys(alone);
  if (FIRST_START_FLAGS.every(([name, value]) => flag(name) === value)) {
    return keys.every(key => annotations[key] === alone[key]) ? 'sealed' : 'open';
  }
  const isAlone = flag('initial-cluster-state') === 'existing' && !flag('initial-cluster').includes(',');
  return isAlone ? 'sealed' : 'fixed';
}
