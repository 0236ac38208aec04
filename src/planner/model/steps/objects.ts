/** The steps about objects of Kubernetes: Services, the budget, Secrets, pods, claims and the resource itself. */
import { ACTION_TIMING, list, namesOf, type NamedObject, row, WAIT_TIMING } from './row.ts';

/** The objects that a cluster has one of. */
export type SharedObject = 'peerService' | 'clientService' | 'disruptionBudget';

const READABLE: Record<SharedObject, string> = {
  peerService: 'the peer Service',
  clientService: 'the client Service',
  disruptionBudget: 'the PodDisruptionBudget',
};

export const OBJECT_STEPS = {
  /** Secrets of TLS.auto, by name: authorities and certificates. */
  issueCertificates: row<{ readonly secrets: readonly string[] }>({
    timing: ACTION_TIMING,
    plannedAgain: false,
    isolated: 'repairCluster',
    summary: ({ secrets }) => `issue certificates ${list(secrets)}`,
  }),
  /** Certificates of cert-manager, by name: created, or brought to what they are to say. */
  requestCertificates: row<{ readonly certificates: readonly string[] }>({
    timing: ACTION_TIMING,
    plannedAgain: false,
    isolated: 'repairCluster',
    summary: ({ certificates }) => `request certificates ${list(certificates)} from cert-manager`,
  }),
  ensureObjects: row<{
    readonly objects: readonly SharedObject[];
    /** Of the PodDisruptionBudget, when it is among them. */
    readonly minAvailable?: number | undefined;
  }>({
    timing: ACTION_TIMING,
    plannedAgain: false,
    isolated: 'repairCluster',
    summary: ({ objects }) => `create ${list(objects.map(object => READABLE[object]))}`,
  }),
  applyObjects: row<{
    readonly objects: readonly {
      readonly object: SharedObject;
      /** The first field that is not as we apply it. */
      readonly because: string;
      /** It follows the members; nobody has edited it. */
      readonly follows?: true;
    }[];
    /** Of the PodDisruptionBudget, when it is among them. */
    readonly minAvailable?: number | undefined;
  }>({
    timing: ACTION_TIMING,
    plannedAgain: false,
    isolated: 'repairCluster',
    summary: ({ objects }) =>
      `update ${list(objects.map(({ object, because }) => `${READABLE[object]} (${because})`))}`,
  }),
  /** The finalizer and the annotations of the operator that the EtcdCluster lacks, by their names. */
  stampResource: row<{ readonly token: string; readonly lacking: readonly string[] }>({
    timing: ACTION_TIMING,
    plannedAgain: false,
    isolated: 'always',
    summary: ({ lacking }) => `restore ${list(lacking)} on the EtcdCluster`,
  }),
  removeFinalizer: row<object>({
    timing: ACTION_TIMING,
    plannedAgain: false,
    summary: () => 'remove the finalizer',
  }),
  expandClaim: row<{
    readonly claim: string;
    readonly uid: string;
    /** Quantities. */
    readonly from: string;
    readonly size: string;
  }>({
    timing: ACTION_TIMING,
    plannedAgain: true,
    isolated: 'always',
    summary: ({ claim, from, size }) => `expand claim ${claim} from ${from} to ${size}`,
  }),
  modifyVolume: row<{ readonly claim: string; readonly uid: string; readonly attributesClass: string }>({
    timing: ACTION_TIMING,
    plannedAgain: false,
    isolated: 'always',
    summary: ({ claim, attributesClass }) =>
      `give claim ${claim} the VolumeAttributesClass ${attributesClass}`,
  }),
  /** Labels and annotations that the claim lacks, or has otherwise than the template; null: one that it is not to have any more. */
  labelClaim: row<ClaimLabels>({
    timing: ACTION_TIMING,
    plannedAgain: true,
    isolated: 'always',
    summary: labelSummary,
  }),
  releaseClaims: row<{ readonly claims: readonly NamedObject[] }>({
    timing: ACTION_TIMING,
    plannedAgain: false,
    summary: ({ claims }) => `delete claims ${namesOf(claims)}`,
  }),
  /** What a deleted cluster of the name has left becomes this one's. */
  takeUpMembers: row<{
    readonly token: string;
    readonly clusterId: string;
    readonly lastSerial: number;
    readonly claims: readonly NamedObject[];
    readonly pods: readonly NamedObject[];
    readonly objects: readonly SharedObject[];
  }>({
    timing: ACTION_TIMING,
    plannedAgain: true,
    summary: ({ token, claims, pods }) => {
      const names = [...new Set([...claims, ...pods].map(({ name }) => name))];
      return `take up ${list(names)} of incarnation ${token}`;
    },
  }),
  /** What a deleted cluster leaves: it says whose it was, and names the cluster as its owner no more. */
  leaveObjects: row<{
    readonly pods: readonly NamedObject[];
    readonly claims: readonly NamedObject[];
    readonly objects: readonly SharedObject[];
    /** What is written on pods and claims (model/left-behind.ts). */
    readonly note?: string | undefined;
  }>({
    timing: ACTION_TIMING,
    plannedAgain: false,
    summary: ({ pods, claims, objects }) => {
      const left = [
        ...objects.map(object => READABLE[object]),
        ...(pods.length === 0 ? [] : [`pods ${namesOf(pods)}`]),
        ...(claims.length === 0 ? [] : [`claims ${namesOf(claims)}`]),
      ];
      return `leave ${list(left)}, and note whose they were`;
    },
  }),
  /** Labels that pods of members were made with and lack. */
  labelPods: row<{
    readonly pods: readonly (NamedObject & { readonly labels: Readonly<Record<string, string>> })[];
  }>({
    timing: ACTION_TIMING,
    plannedAgain: true,
    isolated: 'always',
    summary: ({ pods }) => `restore the labels of ${namesOf(pods)}`,
  }),
  /** Clients are led away from these pods: the data of their members differs. */
  withdrawMembers: row<{ readonly pods: readonly NamedObject[] }>({
    timing: ACTION_TIMING,
    plannedAgain: true,
    isolated: 'always',
    summary: ({ pods }) => `lead clients away from ${namesOf(pods)}: the data differs`,
  }),
  /** Clients are led to these pods again. */
  admitMembers: row<{ readonly pods: readonly NamedObject[] }>({
    timing: ACTION_TIMING,
    plannedAgain: false,
    bringsMembers: true,
    summary: ({ pods }) => `admit clients to ${namesOf(pods)}`,
  }),
  deletePods: row<{ readonly pods: readonly NamedObject[] }>({
    timing: WAIT_TIMING,
    plannedAgain: false,
    summary: ({ pods }) => `delete pods ${namesOf(pods)} and wait until they are gone`,
  }),
  /** Pods whose nodes are proved gone, or of which a person said so: taken out of Kubernetes without their nodes. */
  forceDeletePods: row<{ readonly pods: readonly NamedObject[]; readonly because: string }>({
    timing: ACTION_TIMING,
    plannedAgain: true,
    summary: ({ pods, because }) => `force the deletion of ${namesOf(pods)}: ${because}`,
  }),
};

interface ClaimLabels {
  readonly claim: string;
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string | null>>;
}

function labelSummary({ claim, labels, annotations }: ClaimLabels): string {
  const [put = [], taken = []] = [false, true].map(isTaken =>
    Object.entries({ ...labels, ...annotations }).flatMap(([key, value]) =>
      (value === null) === isTaken ? [key] : [],
    ),
  );
  const changes = [
    ...(put.length === 0 ? [] : [`add ${list(put)} to`]),
    ...(taken.length === 0 ? [] : [`remove ${list(taken)} from`]),
  ];
  return `${changes.join(' and ')} claim ${claim}`;
}
