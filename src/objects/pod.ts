/** The pod of one member. Pure. */
import { type ClusterConfig, etcdImage } from '../api/defaults/etcd-cluster.ts';
import {
  ANNOTATION_SETTLED,
  ANNOTATION_VERSION,
  CLIENT_PORT,
  CLIENTS_ADMITTED,
  CLIENTS_WITHDRAWN,
  claimName,
  clientUrl,
  LABEL_CLIENTS,
  memberHost,
  memberLabels,
  METRICS_PORT,
  PEER_PORT,
  peerServiceName,
  peerUrl,
} from '../api/names.ts';
import { securityOf } from '../api/derived/tls.ts';
import type { EnvVar, EtcdCluster } from '../api/schemas/types.ts';
import { etcdArguments, type MemberIdentity, VOLUME_PATH } from './etcd-arguments.ts';
import { ETCD_CONTAINER } from './containers.ts';
import { FIRST_START_ENV, firstStartAnnotations, type MemberStart } from './first-start.ts';
import { madeFrom } from './made-from.ts';
import { buildableConfig, type ManifestObject, memberAnnotations, ownerReference } from './manifest.ts';
import { optionalField, placement } from './placement.ts';
import { METRICS_PORT_NAME, probesFor } from './probes.ts';
import { stamped } from './rendered.ts';
import { CONTAINER_SECURITY, POD_SECURITY } from './security.ts';
import { runtimeEnvironment } from './runtime-environment.ts';
import { tlsMounts, tlsVolumes } from './tls.ts';

/** An observation, a decision and the transfer take less than a second; on a busy machine they take longer. */
const HAND_OVER_SECONDS = 3;

export type PodMember = {
  readonly name: string;
  readonly token: string;
  readonly start: MemberStart;
  readonly storage: 'PersistentVolumeClaim' | 'EmptyDir';
  /** The etcd version that this member runs while it differs from the specification's, as during an upgrade. */
  readonly version?: string | undefined;
  /** It does not vote: a pod that joins, and one that is started again before it was promoted. */
  readonly isLearner?: boolean | undefined;
  /** The image that it ran before, where the specification names another one for this version. */
  readonly image?: string | undefined;
};

/**
 * The pod of `member`, equal for equal arguments. A `securityContext` of the user's replaces the pod's whole one, as it did
 * in the CoreOS operator; what restricts the container stays.
 * Throws a RangeError for TLS as {@link buildableConfig} does, a malformed member name, or a start that leaves the member itself out.
 */
export function memberPod(cluster: EtcdCluster, member: PodMember): ManifestObject {
  const built = buildableConfig(cluster);
  const version = member.version ?? built.version;
  const config = { ...built, version, image: member.image ?? etcdImage(built.repository, version) };
  const { name, namespace } = cluster.metadata;
  const { pod } = config;
  const identity = identityOf(cluster, config, member);
  const made = stamped({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: member.name,
      namespace,
      labels: { ...pod.labels, ...memberLabels(name, member.name) },
      annotations: {
        ...pod.annotations,
        ...memberAnnotations(member),
        ...madeFrom(cluster),
        ...firstStartAnnotations(member.start, identity, other => peerUrlOf(cluster, config, other)),
        [ANNOTATION_VERSION]: config.version,
      },
      ownerReferences: [ownerReference(cluster)],
    },
    spec: {
      hostname: member.name,
      subdomain: peerServiceName(name),
      hostAliases: ownNameAlias(cluster, config, member.name),
      restartPolicy: 'Always',
      enableServiceLinks: false,
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: pod.terminationGracePeriodSeconds,
      securityContext: pod.securityContext ?? POD_SECURITY,
      ...optionalField('serviceAccountName', pod.serviceAccountName),
      ...optionalField('imagePullSecrets', pod.imagePullSecrets),
      ...placement(name, config),
      containers: [container(cluster, config, identity)],
      volumes: [volume(config, member), ...tlsVolumes(securityOf(cluster))],
    },
  });
  return { ...made, metadata: { ...made.metadata, labels: { ...made.metadata.labels, ...clients(member) } } };
}

/**
 * Clients are led to members that vote: etcd refuses nearly everything of theirs at a learner. Outside of the stamp: the label comes and goes
 * while a pod lives, and no pod is outdated for lack of it.
 */
function clients({ start, isLearner }: PodMember): Readonly<Record<string, string>> {
  const mayServe = start.state !== 'join' && isLearner !== true;
  return { [LABEL_CLIENTS]: mayServe ? CLIENTS_ADMITTED : CLIENTS_WITHDRAWN };
}

/**
 * A member knows its own name without DNS. etcd before 3.7 resolves its advertised URL before it bootstraps, and
 * waits at least a second when the name is not served yet, longer when that answer is cached. Nothing else in the pod
 * dials that name.
 */
function ownNameAlias(cluster: EtcdCluster, config: ClusterConfig, member: string): readonly unknown[] {
  return [{ ip: '127.0.0.1', hostnames: [memberHost(address(cluster, config, member))] }];
}

function container(
  cluster: EtcdCluster,
  config: ClusterConfig,
  identity: MemberIdentity,
): Readonly<Record<string, unknown>> {
  const { args, env } = etcdArguments(identity, config, {
    etcd: cluster.spec.etcd,
    env: config.pod.etcdEnv,
  });
  return {
    name: ETCD_CONTAINER,
    image: config.image,
    imagePullPolicy: 'IfNotPresent',
    // The image has a CMD and no ENTRYPOINT: arguments alone would replace the program.
    command: ['/usr/local/bin/etcd'],
    args,
    env: environment(config, env),
    ports: [
      { name: 'client', containerPort: CLIENT_PORT, protocol: 'TCP' },
      { name: 'peer', containerPort: PEER_PORT, protocol: 'TCP' },
      { name: METRICS_PORT_NAME, containerPort: METRICS_PORT, protocol: 'TCP' },
    ],
    ...probesFor(config.version),
    ...handOverTime(config),
    ...optionalField('resources', config.pod.resources),
    securityContext: CONTAINER_SECURITY,
    // Why a member ended is read from the last lines of its log, which needs no permission to read logs.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: [{ name: 'data', mountPath: VOLUME_PATH }, ...tlsMounts(securityOf(cluster))],
  };
}

/**
 * etcd goes on for so long after the deletion of its pod: clients are led away, and a leader can hand over (`planHandOver`). The kubelet
 * sleeps by itself (Kubernetes 1.30, PodLifecycleSleepAction); the image has no shell. It must be shorter than the grace of the pod.
 */
function handOverTime({ pod }: ClusterConfig): Readonly<Record<string, unknown>> {
  const seconds = Math.min(HAND_OVER_SECONDS, pod.terminationGracePeriodSeconds - 1);
  return seconds < 1 ? {} : { lifecycle: { preStop: { sleep: { seconds } } } };
}

function environment(config: ClusterConfig, user: readonly EnvVar[]): readonly EnvVar[] {
  const names = new Set(user.map(variable => variable.name));
  const runtime = runtimeEnvironment(config.pod.resources).filter(variable => !names.has(variable.name));
  return [...FIRST_START_ENV, ...runtime, ...user];
}

function volume(config: ClusterConfig, member: PodMember): Readonly<Record<string, unknown>> {
  return member.storage === 'EmptyDir'
    ? { name: 'data', emptyDir: config.storage.emptyDir ?? {} }
    : { name: 'data', persistentVolumeClaim: { claimName: claimName(member.name) } };
}

function identityOf(cluster: EtcdCluster, config: ClusterConfig, member: PodMember): MemberIdentity {
  const security = securityOf(cluster);
  return {
    name: member.name,
    peerUrl: peerUrlOf(cluster, config, member.name),
    clientUrl: clientUrl({ ...address(cluster, config, member.name), tls: security?.client }),
    token: member.token,
    anyPeerName: security?.mode === 'auto',
  };
}

function peerUrlOf(cluster: EtcdCluster, config: ClusterConfig, member: string): string {
  return peerUrl({ ...address(cluster, config, member), tls: securityOf(cluster)?.peer });
}

function address(cluster: EtcdCluster, config: ClusterConfig, member: string) {
  const { name, namespace } = cluster.metadata;
  return { member, cluster: name, namespace, domain: config.pod.ClusterDomain };
}

/** The same pod with the minor noted that its member can leave as it is; without one it is the pod itself. */
export function settledIn(pod: ManifestObject, minor: string | undefined): ManifestObject {
  if (minor === undefined) return pod;
  const annotations = { ...pod.metadata.annotations, [ANNOTATION_SETTLED]: minor };
  return { ...pod, metadata: { ...pod.metadata, annotations } };
}
