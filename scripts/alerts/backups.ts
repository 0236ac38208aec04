/** Alerts on backups, restores and certificates. */
import { BACKUP_WORKFLOW, type Group, has, lasts, messageOf } from './alert.ts';

const RESOURCE = '{{ $labels.namespace }}/{{ $labels.name }}';
const HISTORY = `kubectl -n $NS get etcdbackup $NAME -o jsonpath='{.status.lastRun}{"\\n"}{.status.progress}{"\\n"}'`;

export const BACKUPS: Group = {
  name: 'etcd-operator.backups',
  title: 'Backups and restores',
  alerts: [
    {
      name: 'EtcdBackupLate',
      severity: 'warning',
      for: '5m',
      expr: 'time() - max by (namespace, name) (etcd_operator_backup_due_timestamp_seconds) > 0',
      summary: `EtcdBackup ${RESOURCE} is late`,
      description: `The backup that the schedule of ${RESOURCE} awaits should have been finished by now.`,
      runbook: {
        means:
          'A scheduled backup was not finished `timeoutInSecond` after it was due. It failed and is retried, is paused, waits for its turn at the store, or the operator did not run.',
        look: [
          `kubectl -n $NS get etcdbackup $NAME -o jsonpath='{.status.conditions[?(@.type=="OnSchedule")].message}{"\\n"}'`,
          HISTORY,
          'kubectl -n $NS describe etcdbackup $NAME      # events of each run',
        ],
        act: [
          'The message says which of these it is. [Backups: troubleshooting](backup.md#troubleshooting) lists errors of stores.',
          'Many are late at once: the store is slow or refuses, or `MAX_BACKUPS_PER_STORE` or `MAX_BACKUPS_PER_NODE` is too low for the fleet (the message says which); spread them with `jitterInSecond`.',
        ],
        ends: 'When the backup has succeeded, the schedule is suspended, or the EtcdBackup is deleted.',
      },
    },
    {
      name: 'EtcdBackupFailed',
      severity: 'warning',
      for: '10m',
      expr: has('EtcdBackup', 'Succeeded', 'failed'),
      summary: `The last backup of EtcdBackup ${RESOURCE} failed`,
      description: `The last run of ${RESOURCE} failed and no later one has succeeded.`,
      runbook: {
        means:
          'The last run ended with an error. A scheduled one is retried after 1, 2, 4 … minutes; a single one is not.',
        look: [messageOf('EtcdBackup', 'Succeeded'), HISTORY],
        act: [
          'Remove the cause that the message names ([errors](backup.md#troubleshooting), [stores](stores.md#errors)).',
          'A single backup: edit the EtcdBackup, or [ask for another run](backup.md#start-abort-pause).',
        ],
        ends: 'When a run succeeds, or the EtcdBackup is deleted.',
      },
    },
    {
      name: 'EtcdBackupNotVerified',
      severity: 'critical',
      for: '1m',
      expr: has('EtcdBackup', 'Succeeded', 'notVerified'),
      summary: `The last backup of EtcdBackup ${RESOURCE} did not pass its verification`,
      description: `The object of ${RESOURCE} is in the store, and its verification has found a fault. Do not restore it.`,
      runbook: {
        means:
          'The backup was written, and reading it again has found a fault: in the store, or in the data of the member that it came from.',
        look: [
          messageOf('EtcdBackup', 'Succeeded'),
          `kubectl -n $NS get etcdbackup $NAME -o jsonpath='{.status.history[0]}{"\\n"}'`,
        ],
        act: [
          'Do not restore this object. The operator keeps the newest verified one.',
          `Take another backup: \`temporal workflow signal --name backup -i '{"by":"ana"}' -w ${BACKUP_WORKFLOW}\`.`,
          'If it fails again, compare the members (`etcdctl endpoint hashkv --cluster`), and check the store.',
        ],
        ends: 'When a later backup is verified.',
      },
    },
    {
      name: 'EtcdBackupNotCopied',
      severity: 'warning',
      for: '6h',
      expr: lasts('EtcdBackup', 'Copied', 'behind'),
      summary: `Backups of EtcdBackup ${RESOURCE} are not in its second store`,
      description: `For six hours at least one backup of ${RESOURCE} has been in its first store alone, or the second store cannot be looked at.`,
      runbook: {
        means:
          'The second store is away, slow, full or refuses, or the first one cannot be read. Backups go on: what is missing is that a loss of the first store would cost nothing.',
        look: [
          messageOf('EtcdBackup', 'Copied'),
          `kubectl -n $NS get etcdbackup $NAME -o jsonpath='{.status.secondStore}{"\\n"}'`,
        ],
        act: [
          'Remove the cause that the message names ([a second store](backup.md#a-second-store), [stores](stores.md#errors)). What is missing is copied by itself.',
          'A store that is too slow for its backups stays behind: back up less often, compress, or name another one.',
        ],
        ends: 'When every backup that is kept is in the second store, `spec.secondStore` is removed, or the EtcdBackup is deleted.',
      },
    },
    {
      name: 'EtcdBackupScheduleInvalid',
      severity: 'warning',
      for: '10m',
      expr: has('EtcdBackup', 'ScheduleValid', 'invalid'),
      summary: `The schedule of EtcdBackup ${RESOURCE} is invalid`,
      description: `No backup of ${RESOURCE} runs until its schedule or time zone is corrected.`,
      runbook: {
        means: 'The cron expression or the time zone cannot be understood.',
        look: [messageOf('EtcdBackup', 'ScheduleValid')],
        act: ['Correct `spec.backupPolicy` ([scheduled backups](backup.md#scheduled-backups)).'],
        ends: 'When the schedule is valid.',
      },
    },
    {
      name: 'EtcdClusterNoVerifiedBackup',
      severity: 'warning',
      for: '1d',
      expr: lasts('EtcdCluster', 'BackedUp', 'never'),
      summary: `EtcdCluster ${RESOURCE} has no verified backup`,
      description: `There is an EtcdBackup of ${RESOURCE}, and for a day none of its objects has been verified.`,
      runbook: {
        means:
          'The cluster has an EtcdBackup that has no verified object, neither of the cluster nor the one that it was restored from. A cluster without any EtcdBackup does not count.',
        look: ['kubectl -n $NS get etcdbackups', messageOf('EtcdCluster', 'BackedUp')],
        act: [
          'Read the status of its EtcdBackups: suspended, failing, or not due yet ([backups](backup.md)).',
        ],
        ends: 'When a backup is verified.',
      },
    },
    {
      name: 'EtcdRestoreWaiting',
      severity: 'warning',
      for: '15m',
      expr: has('EtcdRestore', 'Accepted', 'waiting'),
      summary: `EtcdRestore ${RESOURCE} waits`,
      description: `${RESOURCE} has not begun for 15 minutes. It begins, and overwrites its cluster, as soon as its obstacle is gone.`,
      runbook: {
        means:
          'The restore may begin and something prevents it. It begins by itself when that is gone, perhaps unexpectedly.',
        look: [messageOf('EtcdRestore', 'Accepted')],
        act: [
          'Remove what the message names ([restores](restore.md#troubleshooting)), or delete the EtcdRestore if it is no longer wanted: `kubectl -n $NS delete etcdrestore $NAME`.',
        ],
        ends: 'When the restore begins, is refused, or is deleted.',
      },
    },
    {
      name: 'EtcdRestoreFailed',
      severity: 'warning',
      for: '1m',
      expr: has('EtcdRestore', 'Succeeded', 'failed'),
      summary: `EtcdRestore ${RESOURCE} failed or was refused`,
      description: `What ${RESOURCE} asked for was not done.`,
      runbook: {
        means: 'The restore was refused and has changed nothing, or it began and failed.',
        look: [
          messageOf('EtcdRestore', 'Succeeded'),
          `kubectl -n $NS get etcdrestore $NAME -o jsonpath='{.status.refusal.reason}: {.status.refusal.message}{"\\n"}'`,
        ],
        act: [
          '[Refused](restore.md#refused), or [roll back](restore.md#abort-and-roll-back): the volumes of before are kept.',
        ],
        ends: 'When the EtcdRestore is deleted, or succeeds after a change of its specification.',
      },
    },
  ],
};

export const CERTIFICATES: Group = {
  name: 'etcd-operator.certificates',
  title: 'Certificates',
  alerts: [
    {
      name: 'EtcdCertificateExpiresSoon',
      severity: 'warning',
      for: '1h',
      expr: lasts('EtcdCluster', 'TLSReady', 'expiring'),
      summary: `A certificate of EtcdCluster ${RESOURCE} expires soon`,
      description: `Less than a fifth of the lifetime, and less than 30 days, are left of a certificate of ${RESOURCE}, or less than a year of an authority.`,
      runbook: {
        means:
          'A certificate was not renewed: the operator and cert-manager do so earlier. Of an authority of `TLS.auto` it is the last year.',
        look: [
          messageOf('EtcdCluster', 'TLSReady'),
          `kubectl -n $NS get etcd $NAME -o jsonpath='{.status.tls}{"\\n"}'`,
          'kubectl -n $NS get certificates      # of cert-manager',
        ],
        act: [
          'Your own certificates: write new ones to the Secret; etcd loads them without a restart ([TLS](tls.md)).',
          '`TLS.auto`: the cluster may be paused, which holds renewals. cert-manager: read the status of the Certificate.',
          'An authority of `TLS.auto` is not renewed: restore a backup into a new cluster in time.',
        ],
        ends: 'When the certificate is renewed, and a pass has seen it (at the latest after twelve hours).',
      },
    },
    {
      name: 'EtcdCertificateExpiresNow',
      severity: 'critical',
      for: '5m',
      expr: 'min by (namespace, name) (etcd_operator_cluster_certificate_expiry_timestamp_seconds) - time() < 3600',
      summary: `A certificate of EtcdCluster ${RESOURCE} expires within the hour`,
      description: `When a certificate of ${RESOURCE} has expired, clients or members can no longer connect.`,
      runbook: {
        means:
          'A certificate in use has less than an hour left, or has expired. Existing connections continue; new ones fail.',
        look: [
          messageOf('EtcdCluster', 'TLSReady'),
          `kubectl -n $NS get etcd $NAME -o jsonpath='{.status.tls}{"\\n"}'`,
        ],
        act: [
          'As for [EtcdCertificateExpiresSoon](#etcdcertificateexpiressoon), at once. Restart no member before the new certificate is there.',
        ],
        ends: 'When the certificate is renewed.',
      },
    },
    {
      name: 'EtcdCertificateInvalid',
      severity: 'critical',
      for: '10m',
      expr: has('EtcdCluster', 'TLSReady', 'invalid'),
      summary: `The certificates of EtcdCluster ${RESOURCE} cannot be used as they are`,
      description: `Connections to ${RESOURCE} fail, or will fail when a member restarts; the operator restarts none until this is fixed.`,
      runbook: {
        means: 'A certificate, key or authority is missing, expired, does not fit, or cannot be renewed.',
        look: [messageOf('EtcdCluster', 'TLSReady')],
        act: [
          'The [reason](../reference/conditions.md#tlsready) says what to do, and the message names the Secret.',
          'Restart no member: running ones may still use what they have loaded. Changing an authority has [an order](tls.md#changing-the-authority).',
        ],
        ends: 'When every certificate is valid, and a pass has seen it.',
      },
    },
  ],
};
