/** The conditions about restores that have not begun: of an EtcdRestore, and of the EtcdCluster that it names. Pure data; see catalogue.ts. */
import type { ConditionTable } from './table.ts';

const LOOK_AGAIN =
  'Change the spec of the EtcdRestore, or request another look: docs/operations/restore.md, "Refused".';

export const RESTORE_CONDITIONS = {
  /** Of an EtcdRestore: may it begin as it is? */
  Accepted: {
    True: { MayBegin: ['The restore can start; the workflow of the cluster performs it.'] },
    Unknown: {
      Waiting: [
        'The restore cannot start yet; the operator checks again automatically.',
        'Read the message, which says what the restore waits for.',
      ],
    },
    False: {
      NotConfirmed: [
        'The data of the cluster is not proved lost, and no person has confirmed that it may be overwritten.',
        'If that is what you want, write status.clusterID of the EtcdCluster into spec.confirmClusterID.',
      ],
      WrongClusterID: [
        'spec.confirmClusterID names another cluster than the one that would be overwritten.',
        'Check which cluster is to be overwritten; the message contains the id of the current one.',
      ],
      NotLost: [
        'The operator created the EtcdRestore because every volume was lost. This is no longer true, or no longer requested.',
        'Delete the EtcdRestore. If every volume is lost again, the operator creates another one.',
      ],
      QuorumMayReturn: [
        'The EtcdRestore recovers a lost quorum, and what was approved is no longer so: a member may come back, a quorum answers, or the data is other data.',
        'Read the message. Delete the EtcdRestore; if the quorum is lost for good, send another RecoverQuorum.',
      ],
      IncarnationNotKept: [
        'The EtcdRestore goes back to an incarnation of which nothing, or too little, is kept, or that runs already.',
        'Read the message, which says what is there: kubectl etcd incarnations NAME lists what is kept. Name another one, or restore a backup.',
      ],
      ClusterExists: [
        'spec.clusterTemplate requests a new cluster, but a cluster of that name exists.',
        'Name another cluster, or remove spec.clusterTemplate to restore in place.',
      ],
      NoVolumes: [
        'The cluster keeps, or would keep, its data in its pods; a backup can be restored only onto volumes.',
        'Restore into a new cluster with volumes.',
      ],
      VolumeTooSmall: [
        'The volumes of the cluster are too small for the backup.',
        `Raise the size in the EtcdCluster. ${LOOK_AGAIN}`,
      ],
      QuotaTooSmall: [
        'The database of the backup is larger than the quota of the members: they would refuse the first write.',
        `Raise spec.etcd.quotaBackendBytes in the EtcdCluster. ${LOOK_AGAIN}`,
      ],
      VersionTooOld: [
        'The cluster runs, or asks for, an earlier minor of etcd than the one that wrote the data, and cannot read it.',
        `Restore into a cluster of that minor, or upgrade this one. ${LOOK_AGAIN}`,
      ],
      UsersWithoutTLS: [
        'The members require, or would require, a user that the operator does not have.',
        'Restore into a new cluster with TLS.auto.',
      ],
      OtherOperator: [
        'Another operator, such as the CoreOS operator, created the cluster.',
        'Restore into a new cluster: set spec.clusterTemplate, and another name in spec.etcdCluster.name.',
      ],
      SpecInvalid: ['The specification is invalid.', 'See condition SpecValid.'],
    },
  },
  /** Of an EtcdCluster: is there an EtcdRestore that has not begun? Said only while there is. */
  RestorePending: {
    True: {
      Waiting: [
        'An EtcdRestore of this cluster waits, and overwrites the cluster when the obstacle is gone.',
        'Read the message. Delete the EtcdRestore if you no longer want it.',
      ],
    },
    False: {
      Refused: [
        'An EtcdRestore of this cluster is refused: nothing is restored, even if the cluster changes.',
        'Read the message and the condition Accepted of the EtcdRestore: change it, or delete it.',
      ],
    },
  },
} as const satisfies ConditionTable;
