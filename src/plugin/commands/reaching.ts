/** The commands that act on data, reach members, or gather what support asks for. */
import { EXIT } from '../exit-codes.ts';
import { etcdctl, forward } from '../members/reach.ts';
import { shell } from '../members/prompt.ts';
import { need } from '../not-found.ts';
import { report } from '../report/report.ts';
import { goBack } from '../restore/going-back.ts';
import { restore } from '../restore/restore.ts';
import { verdictLines, verdictOf } from '../views/verdict.ts';
import type { CommandRow } from './command.ts';

/** Whatever follows is passed on. */
const MANY = 1_000;

export const REACHING = {
  verify: {
    usage: 'BACKUPNAME',
    words: [1, 1],
    about: 'whether the newest backup of an EtcdBackup is good, as its verification has shown',
    flags: [],
    more: [
      'It ends with exit code 3 when the backup is not known to be good. Nothing is verified again: see verify-again.',
    ],
    run: async call => {
      const name = (call.words[0] ?? '').replace(/^(etcd)?backup\//, '');
      const backup = await need(call.session, 'EtcdBackup', name);
      const verdict = verdictOf(backup);
      call.show({ data: verdict, lines: verdictLines(backup, verdict, call.io.now()) });
      return verdict.good ? EXIT.done : EXIT.refused;
    },
  },
  restore: {
    usage: 'NAME --from BACKUP | --before-upgrade',
    words: [1, 1],
    about:
      'replace the data of a cluster with a backup: creates an EtcdRestore, after you have typed the name',
    flags: ['from', 'at', 'before-upgrade', 'save-first', 'cluster-id', 'yes', 'wait', 'timeout', 'dry-run'],
    more: [
      'With --yes the id of the cluster must be given: status.clusterID.',
      'With --before-upgrade, set spec.version to the version from before the upgrade first.',
    ],
    run: restore,
  },
  'go-back': {
    usage: 'NAME INCARNATION',
    words: [2, 2],
    about:
      'make a cluster what it was before a restore, from the claims that are kept, after you have typed the name',
    flags: ['cluster-id', 'yes', 'wait', 'timeout', 'dry-run'],
    more: [
      'kubectl etcd incarnations NAME lists what is kept. What the cluster holds now is given up, and kept in turn.',
      'With --yes the id of the cluster that runs must be given: status.clusterID.',
    ],
    run: goBack,
  },
  etcdctl: {
    usage: 'NAME -- COMMAND',
    words: [1, MANY],
    about: 'run etcdctl in the pod of a member, with its certificates and endpoint',
    flags: ['member'],
    more: ['Write -- before the command: kubectl etcd etcdctl example -- endpoint status --cluster -w table'],
    noOutput: 'what etcdctl writes is passed on as it is; write -w json for etcdctl, after --',
    run: etcdctl,
  },
  shell: {
    usage: 'NAME',
    words: [1, 1],
    about: 'a prompt for etcdctl: each line runs in the pod of a member, with its certificates and endpoint',
    flags: ['member'],
    more: ['The image of etcd has no shell. When the member is not ready any more, another one is taken.'],
    noOutput: 'it is a prompt for users',
    run: shell,
  },
  forward: {
    usage: 'NAME [PORT]',
    words: [1, 2],
    about: 'forward a local port to the client port of a healthy member, and to another one when that goes',
    flags: [],
    noOutput: 'it forwards a port until it is interrupted',
    run: forward,
  },
  report: {
    usage: 'NAME',
    words: [1, 1],
    about:
      'write what support asks for into a file, without secrets: resources, events, logs, metrics, workflows',
    flags: ['to', 'operator-namespace', 'temporal-address', 'temporal-namespace'],
    more: [
      'Histories of workflows are read through a port that kubectl forwards to the Temporal of the operator.',
      'Whatever cannot be had is named, and the report is made without it.',
    ],
    run: report,
  },
} as const satisfies Readonly<Record<string, CommandRow>>;
