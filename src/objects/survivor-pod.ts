/**
 * The pod that takes over the data of the member that survived the loss of a quorum: it copies the member's folder, which it cannot
 * write to, onto the volume of the first member of the new incarnation, has the cluster's own etcd replay the log of the copy, and leaves
 * the database where a restore looks for its snapshot. Pure.
 */
import { API_VERSION } from '../api/names.ts';
import { DATA_DIR, VOLUME_PATH } from './etcd-arguments.ts';
import type { PodPlace } from './claim-store.ts';
import { etcdBeside, HELPER_CONTAINER } from './etcd-beside.ts';
import type { RawObject } from '../api/schemas/types.ts';
import { helperResources } from './helper-resources.ts';
import { WORK_POD } from './security.ts';
import { restorePodMetadata, SEED_POD_LABELS } from './seed-pod.ts';

/** Where the volume of the survivor is seen, read-only. */
const SURVIVOR_PATH = '/survivor';
/** Its data there. */
const SURVIVOR_DATA_DIR = DATA_DIR.replace(VOLUME_PATH, SURVIVOR_PATH);
/** The container whose termination message is the report. */
export const SURVIVOR_COPIER = 'copy-survivor';
/** The volume of the pod that is the claim of the survivor. */
export const SURVIVOR_VOLUME = 'survivor';

/** After which the kubelet ends a pod that only looks, whatever has become of the operator. */
const INSPECTION_SECONDS = 3_600;

interface Work {
  /** The claim of the survivor. */
  readonly claim: string;
  /** The revision that the data has at least. */
  readonly revision: number;
  readonly images: { readonly operator: string; readonly etcd: string };
  readonly place: PodPlace;
  /** Of the cluster's own pods. */
  readonly resources?: RawObject | undefined;
}

export interface SurvivorPod extends Work {
  readonly restore: { readonly namespace: string; readonly name: string; readonly uid: string };
  /** The first member of the new incarnation: its volume is written to. */
  readonly member: string;
}

export interface InspectionPod extends Omit<Work, 'revision'> {
  readonly cluster: { readonly namespace: string; readonly name: string; readonly uid: string };
  /** Where the member's own pod runs: its volume may be used on one node at a time. */
  readonly node: string;
}

/** What the pod says of the data when it has ended well. */
export interface SurvivorFacts {
  readonly revision: string;
  readonly clusterId: string;
  readonly raftTerm: string;
  readonly raftIndex: string;
  /** Of all keys at that revision. */
  readonly hash: string;
}

/** The name of the pod; one for each member, and names of members are never used twice. */
export function survivorPodName(member: string): string {
  return `${member}-survivor`;
}

/** The name of the pod that looks at the data of a member. */
export function inspectionPodName(member: string): string {
  return `${member}-inspection`;
}

/** @throws never: equal for equal arguments */
export function survivorPod(of: SurvivorPod) {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: restorePodMetadata(of.restore, survivorPodName(of.member)),
    spec: { ...WORK_POD, ...of.place, ...workOf(of, { persistentVolumeClaim: { claimName: of.member } }) },
  };
}

/** The pod that only looks: its copy goes with it. The member's own pod may run meanwhile; without a quorum it writes nothing. */
export function inspectionPod(of: InspectionPod) {
  const { namespace, name, uid } = of.cluster;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: inspectionPodName(of.claim),
      namespace,
      labels: SEED_POD_LABELS,
      ownerReferences: [{ apiVersion: API_VERSION, kind: 'EtcdCluster', name, uid, controller: true }],
    },
    spec: {
      ...WORK_POD,
      activeDeadlineSeconds: INSPECTION_SECONDS,
      ...of.place,
      nodeName: of.node,
      ...workOf({ ...of, revision: 0 }, { emptyDir: {} }),
    },
  };
}

/** @param onto what the copy is written to */
function workOf({ claim, revision, images, resources }: Work, onto: object) {
  return {
    // The image of etcd has no shell: its program is seen through its process.
    shareProcessNamespace: true,
    containers: [
      {
        name: SURVIVOR_COPIER,
        image: images.operator,
        command: ['/usr/local/bin/node', '/app/dist/main/survivor.js'],
        args: [SURVIVOR_DATA_DIR, VOLUME_PATH, String(revision)],
        resources: helperResources({ requests: { cpu: '100m', memory: '256Mi' } }, resources),
        terminationMessagePolicy: 'FallbackToLogsOnError',
        volumeMounts: [
          { name: 'data', mountPath: VOLUME_PATH },
          { name: SURVIVOR_VOLUME, mountPath: SURVIVOR_PATH, readOnly: true },
        ],
        ...HELPER_CONTAINER,
      },
      etcdBeside(images.etcd, resources),
    ],
    volumes: [
      { name: 'data', ...onto },
      { name: SURVIVOR_VOLUME, persistentVolumeClaim: { claimName: claim } },
    ],
  };
}
