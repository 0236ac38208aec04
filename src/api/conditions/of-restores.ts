/** The conditions about restores that have not begun: of an EtcdRestore, and of the EtcdCluster that it names. Pure data; see catalogue.ts. */
import { rows } from './rows.ts';

const LOOK_AGAIN =
  'Change the spec of the EtcdRestore, or have it looked at again: docs/operations/restore.md, "Refused".';

/** Of an EtcdRestore: may it begin as it is? */
const ACCEPTED = rows('Accepted', {
  MayBegin: ['True', 'Nothing speaks against the restore; the workflow of the cluster carries it out.', ''],
  Waiting: [
    'Unknown',
    'The restore cannot begin yet; it is looked at again by itself.',
    'Read the message, which says what it waits for.',
  ],
  NotConfirmed: [
    'False',
    'The data of the cluster is not proved lost, and nobody has confirmed that it is to be overwritten.',
    'If that is what you want, write status.clusterID of the EtcdCluster into spec.confirmClusterID.',
  ],
  WrongClusterID: [
    'False',
    'spec.confirmClusterID names another cluster than the one that would be overwritten.',
    'Look which cluster is to go; the message tells the id of the present one.',
  ],
  NotLost: [
    'False',
    'The operator made the EtcdRestore because every volume was lost, and that is not so any more, or is not asked for.',
    'Delete the EtcdRestore. If every volume is lost again, another one is made.',
  ],
  ClusterExists: [
    'False',
    'spec.clusterTemplate asks for a new cluster, and there is one of that name.',
    'Name another cluster, or remove spec.clusterTemplate to restore in place.',
  ],
  NoVolumes: [
    'False',
    'The cluster keeps, or would keep, its data in its pods; a backup is restored onto volumes only.',
    'Restore into a new cluster with volumes.',
  ],
  VolumeTooSmall: [
    'False',
    'The volumes of the cluster are too small for the backup.',
    `Raise the size in the EtcdCluster. ${LOOK_AGAIN}`,
  ],
  QuotaTooSmall: [
    'False',
    'The database of the backup is larger than the quota of the members: they would refuse the first write.',
    `Raise spec.etcd.quotaBackendBytes in the EtcdCluster. ${LOOK_AGAIN}`,
  ],
  VersionTooOld: [
    'False',
    'The cluster runs an earlier minor of etcd than the backup comes from, and cannot read it.',
    `Restore into a cluster of that minor, or upgrade this one. ${LOOK_AGAIN}`,
  ],
  UsersWithoutTLS: [
    'False',
    'The members ask, or would ask, for a user that the operator is not.',
    'Restore into a new cluster with TLS.auto.',
  ],
  SpecInvalid: ['False', 'The specification cannot be carried out.', 'See condition SpecValid.'],
});

/** Of an EtcdCluster: is there an EtcdRestore that has not begun? Said only while there is. */
const RESTORE_PENDING = rows('RestorePending', {
  Waiting: [
    'True',
    'An EtcdRestore of this cluster waits, and overwrites it when what it waits for has passed.',
    'Read the message. Delete the EtcdRestore if it is not wanted any more.',
  ],
  Refused: [
    'False',
    'An EtcdRestore of this cluster is refused: nothing is restored, whatever happens to the cluster.',
    'Read the message and the condition Accepted of the EtcdRestore: change it, or delete it.',
  ],
});

export const RESTORE_CONDITIONS = [...ACCEPTED, ...RESTORE_PENDING] as const;
