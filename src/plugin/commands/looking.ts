/** The commands that show something and change nothing. */
import { APP, LABEL_APP } from '../../api/names.ts';
import { EXIT } from '../exit-codes.ts';
import { usageFailure } from '../failure.ts';
import { need } from '../not-found.ts';
import { showIncarnations } from '../restore/going-back.ts';
import { backupLines, oneBackupLines } from '../views/backup-lines.ts';
import { explanationOf } from '../views/explain.ts';
import { explanationLines } from '../views/explain-lines.ts';
import { fleetLines, fleetOf } from '../views/fleet.ts';
import { historyLines } from '../views/history-lines.ts';
import { leftoverLines } from '../views/leftover-lines.ts';
import { leftovers } from '../views/leftovers.ts';
import { inOrder, requestLines } from '../views/request-lines.ts';
import { listOf } from '../output.ts';
import { clusterNameOf } from './cluster-name.ts';
import type { Call, CommandRow, Shown } from './command.ts';
import { status } from './status.ts';
import { watched } from './watched.ts';

const explain: CommandRow = {
  usage: 'NAME',
  words: [1, 1],
  about: 'why a cluster waits, what lets it go on, and the command to send',
  flags: ['watch'],
  run: call =>
    watched(call, async () => {
      const { session, io } = call;
      const cluster = await need(session, 'EtcdCluster', clusterNameOf(call));
      const explanation = explanationOf(cluster, await session.list('EtcdRequest'), session.where);
      return { data: explanation, lines: explanationLines(explanation, io.now()) };
    }),
};

const fleet: CommandRow = {
  usage: '',
  words: [0, 0],
  about: 'all clusters of the namespace, or of all with -A, the worst first',
  flags: ['all-namespaces', 'watch'],
  run: call =>
    watched(call, async () => {
      const everywhere = call.flags.has('all-namespaces');
      const rows = fleetOf(await call.session.list('EtcdCluster', { everywhere }));
      const none = [[`There is no EtcdCluster in ${placeOf(call)}.`]];
      return { data: rows, lines: rows.length === 0 ? none : fleetLines(rows) };
    }),
};

const placeOf = ({ flags, session }: Call): string =>
  flags.has('all-namespaces') ? 'any namespace' : `namespace ${session.where.namespace}; look in all with -A`;

const history: CommandRow = {
  usage: 'NAME',
  words: [1, 1],
  about: 'the last ten operations of a cluster: what, why, who asked, and how each ended',
  flags: [],
  run: async call => {
    const cluster = await need(call.session, 'EtcdCluster', clusterNameOf(call));
    call.show({ data: cluster.status?.history ?? [], lines: historyLines(cluster, call.io.now()) });
    return EXIT.done;
  },
};

/** NAME of an EtcdBackup shows that one; of a cluster, those of the cluster. */
async function lookAtBackups(call: Call): Promise<Shown> {
  const { session, io, flags, words } = call;
  const everywhere = flags.has('all-namespaces');
  if (everywhere && words.length > 0)
    throw usageFailure('NAME and -A exclude each other: leave one of them out');
  const all = await session.list('EtcdBackup', { everywhere });
  const name = words[0]?.replace(/^((etcd)?(cluster|backup))\//, '');
  const one = all.find(({ metadata }) => metadata.name === name);
  if (one !== undefined && !/^(etcd)?cluster\//.test(words[0] ?? ''))
    return { data: one, lines: oneBackupLines(one, io.now()) };
  const found = name === undefined ? all : all.filter(({ spec }) => spec.clusterRef?.name === name);
  if (name !== undefined && found.length === 0) await need(session, 'EtcdCluster', name);
  const none = [[`There is no EtcdBackup ${name === undefined ? 'in' : `of ${name} in`} ${placeOf(call)}.`]];
  return {
    data: listOf('EtcdBackup', found),
    lines: found.length === 0 ? none : backupLines(found, io.now()),
  };
}

const backups: CommandRow = {
  usage: '[NAME]',
  words: [0, 1],
  about: 'EtcdBackups: the last success, what is kept and how it was verified',
  flags: ['all-namespaces', 'watch'],
  more: [
    'NAME of an EtcdBackup shows that one with everything it keeps; NAME of a cluster shows its EtcdBackups.',
  ],
  run: call => watched(call, () => lookAtBackups(call)),
};

const requests: CommandRow = {
  usage: '[NAME]',
  words: [0, 1],
  about: 'EtcdRequests: who asked for what, and what became of it',
  flags: ['all-namespaces', 'watch'],
  more: ['NAME is that of a request, of a cluster or of an EtcdBackup.'],
  run: call =>
    watched(call, async () => {
      const everywhere = call.flags.has('all-namespaces');
      const [name] = call.words;
      const all = await call.session.list('EtcdRequest', { everywhere });
      const found = inOrder(
        all.filter(
          ({ metadata, spec }) =>
            name === undefined || [metadata.name, spec.clusterRef?.name, spec.backupRef?.name].includes(name),
        ),
      );
      return { data: listOf('EtcdRequest', found), lines: requestLines(found, call.io.now()) };
    }),
};

const unused: CommandRow = {
  usage: '[NAME]',
  words: [0, 1],
  about: 'claims that no cluster uses: whose they were, and how they are taken up or deleted',
  flags: ['all-namespaces'],
  more: [
    'They are left by the deletion of a cluster, set aside by a restore, or kept after a member was removed.',
    'NAME is that of the cluster, which need not exist any more.',
  ],
  run: async call => {
    const { session, io, flags, words } = call;
    const everywhere = flags.has('all-namespaces');
    const [name] = words.map(word => word.replace(/^(etcd)?cluster\//, ''));
    const labelled = { everywhere, labelSelector: `${LABEL_APP}=${APP}` };
    // Claims first: one that its cluster takes up meanwhile is in use by the time that the cluster is read.
    const claims = await session.listLabelled(CLAIM, labelled);
    const [clusters, pods] = await Promise.all([
      session.list('EtcdCluster', { everywhere }),
      session.listLabelled(POD, labelled),
    ]);
    const all = leftovers({ clusters, claims, pods }, session.where);
    const groups = all.filter(({ cluster }) => name === undefined || cluster === name);
    const none = [[`No claim is left ${name === undefined ? 'in' : `of ${name} in`} ${placeOf(call)}.`]];
    call.show({ data: groups, lines: groups.length === 0 ? none : leftoverLines(groups, io.now()) });
    return EXIT.done;
  },
};

const incarnations: CommandRow = {
  usage: 'NAME',
  words: [1, 1],
  about: 'what a cluster is, and what is kept of what it was before a restore: revisions, times, sizes',
  flags: [],
  more: ['kubectl etcd go-back NAME INCARNATION makes the cluster what it was before.'],
  run: showIncarnations,
};

const CLAIM = { apiVersion: 'v1', kind: 'PersistentVolumeClaim' } as const;
const POD = { apiVersion: 'v1', kind: 'Pod' } as const;
export const LOOKING = {
  status,
  explain,
  fleet,
  history,
  backups,
  requests,
  leftovers: unused,
  incarnations,
} as const;
