/** The EtcdRestores of a cluster, as the cluster's own pass sees them. Pure. */
import { ANNOTATION_TOTAL_LOSS } from '../../api/names.ts';
import { DEFAULT_REVISION_BUMP } from '../../api/schemas/default-values.ts';
import type {
  EtcdCluster,
  EtcdRestore,
  EtcdRestoreSpec,
  EtcdRestoreStatus,
} from '../../api/schemas/types.ts';
import type { Observation } from './observation.ts';
import { recordedRefusal, type Refusal } from './restore-acceptance.ts';

/** The backup that a restore puts in place, proved to be whole. */
export type RestoreSource = NonNullable<EtcdRestoreStatus['source']>;

/** One EtcdRestore that names this cluster and has not ended. Plain JSON. */
export interface RestoreOfCluster {
  readonly name: string;
  readonly uid: string;
  /** RFC 3339. */
  readonly createdAt: string;
  /** Absent: it was not yet read, or was read for another specification. */
  readonly source?: RestoreSource;
  /** Lower-case hexadecimal, as etcdctl prints it; empty: nothing is confirmed. */
  readonly confirmClusterId: string;
  readonly revisionBump: number;
  /** It was refused as it is now, and stays so. */
  readonly refusal?: Refusal;
  /** Who asks for it, as its specification says. */
  readonly by?: string;
  /** What its own workflow says that it does or waits for. */
  readonly step?: string;
  /** Made by the operator because every volume was lost: it may begin only while that is so. */
  readonly onlyAfterTotalLoss?: boolean;
  /** What the cluster holds is to be saved before it begins, and was not yet. */
  readonly unsaved?: boolean;
  /** It recovers a lost quorum from this member, instead of a backup. */
  readonly survivor?: NonNullable<EtcdRestoreSpec['survivor']>;
  /** It goes back to this incarnation, of which the claims are kept, instead of a backup. */
  readonly incarnation?: string;
}

/** What a restore is to the cluster of this name; undefined for one of another cluster, or one that has ended. */
export function restoreOfCluster(restore: EtcdRestore, cluster: string): RestoreOfCluster | undefined {
  const { metadata, spec, status = {} } = restore;
  if (spec.etcdCluster.name !== cluster || metadata.deletionTimestamp !== undefined) return undefined;
  if (hasEnded(status)) return undefined;
  const source = status.generation === metadata.generation ? status.source : undefined;
  const refusal = recordedRefusal(restore);
  return {
    name: metadata.name,
    uid: metadata.uid,
    createdAt: metadata.creationTimestamp ?? '',
    ...(source && { source }),
    ...(refusal && { refusal }),
    ...(status.step !== undefined && { step: status.step }),
    ...wordsOf(spec),
    confirmClusterId: (spec.confirmClusterID ?? '').replace(/^0x/, '').replace(/^0+/, ''),
    revisionBump: spec.revisionBump ?? DEFAULT_REVISION_BUMP,
    ...(isUnsaved(restore) && { unsaved: true }),
    ...(metadata.annotations?.[ANNOTATION_TOTAL_LOSS] !== undefined && { onlyAfterTotalLoss: true }),
  };
}

/** Whether what the cluster holds is still to be saved for it. */
export function isUnsaved({ spec, status = {} }: EtcdRestore): boolean {
  return spec.saveFirst === true && status.saved === undefined;
}

function wordsOf({
  by,
  survivor,
  incarnation,
}: EtcdRestoreSpec): Pick<RestoreOfCluster, 'by' | 'survivor' | 'incarnation'> {
  return {
    ...(by !== undefined && { by }),
    ...(survivor !== undefined && { survivor }),
    ...(incarnation !== undefined && { incarnation: incarnation.token }),
  };
}

/**
 * Whether a restore has ended, well or not. It is never begun again. The CoreOS operator recorded no phase, only that it succeeded.
 */
export function hasEnded({ phase, succeeded }: EtcdRestoreStatus): boolean {
  return phase === 'Succeeded' || phase === 'Failed' || (phase === undefined && succeeded === true);
}

/** Whether clients were let into what a restore under way has made: what they wrote there is not in its backup. */
export function isOpened({
  cluster,
  clientService,
}: Pick<Observation, 'cluster' | 'clientService'>): boolean {
  const under = restoreUnderWay(cluster);
  if (under === undefined || cluster.status.clusterID === undefined) return false;
  return under.opened === true || (clientService.exists && clientService.owned);
}

/** The restore that the cluster's members come from, while clients are still kept out. */
export function restoreUnderWay({ status }: Pick<EtcdCluster, 'status'>) {
  const restore = status?.incarnation?.restore;
  return restore?.completedAt === undefined ? restore : undefined;
}
