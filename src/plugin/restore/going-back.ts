/** Goes back to an incarnation of a cluster that is kept: says what is given up on the other side, asks, and creates the EtcdRestore. */
import { APP, LABEL_CLUSTER, LABEL_APP } from '../../api/names.ts';
import type { EtcdCluster } from '../../api/schemas/types.ts';
import type { KubeObject } from '../../kube/port.ts';
import { clusterNameOf } from '../commands/cluster-name.ts';
import type { Call } from '../commands/command.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { failure } from '../failure.ts';
import { need } from '../not-found.ts';
import type { Session } from '../session.ts';
import { pluginLine } from '../views/command-lines.ts';
import { incarnationLines } from '../views/incarnation-lines.ts';
import { incarnationsOf, type ShownIncarnation } from '../views/incarnations.ts';
import { age } from '../views/times.ts';
import { sendRestore, waitSeconds } from './sending.ts';

const CLAIM = { apiVersion: 'v1', kind: 'PersistentVolumeClaim' } as const;

/** All claims with the label of the cluster. */
export function claimsOfCluster(session: Session, name: string): Promise<KubeObject[]> {
  const labelSelector = `${LABEL_APP}=${APP},${LABEL_CLUSTER}=${name}`;
  return session.listLabelled(CLAIM, { everywhere: false, labelSelector });
}

/** Lists them. @throws Failure, KubeError */
export async function showIncarnations(call: Call): Promise<ExitCode> {
  const { session, io } = call;
  const cluster = await need(session, 'EtcdCluster', clusterNameOf(call));
  const { name } = cluster.metadata;
  const all = incarnationsOf(cluster, await claimsOfCluster(session, name));
  call.show({ data: all, lines: incarnationLines(name, all, { where: session.where, now: io.now() }) });
  return EXIT.done;
}

/** Runs the command. @throws Failure, KubeError */
export async function goBack(call: Call): Promise<ExitCode> {
  const { session, words, io } = call;
  waitSeconds(call);
  const cluster = await need(session, 'EtcdCluster', clusterNameOf(call));
  const { name } = cluster.metadata;
  const all = incarnationsOf(cluster, await claimsOfCluster(session, name));
  const chosen = chosenIncarnation(name, all, words[1] ?? '');
  const { token } = chosen;
  const again = pluginLine(session.where, 'go-back', name, all.find(({ runs }) => runs)?.token ?? '');
  return sendRestore(call, cluster, {
    effect: effectOf(cluster, { chosen, all, again, now: io.now() }),
    purpose: 'give up what it holds now',
    specOf: ({ confirmed, by }) => ({
      etcdCluster: { name },
      incarnation: { token },
      ...(confirmed !== undefined && { confirmClusterID: confirmed }),
      by,
    }),
  });
}

/** @throws Failure when it is not kept, or cannot be gone back to */
function chosenIncarnation(
  cluster: string,
  all: readonly ShownIncarnation[],
  token: string,
): ShownIncarnation {
  const found = all.find(each => each.token === token);
  const kept = all.filter(({ runs }) => !runs).map(each => each.token);
  const there = kept.length === 0 ? 'None is kept.' : `There are: ${kept.join(', ')}`;
  if (found === undefined) throw failure(`no claim of incarnation ${token} of ${cluster} is kept`, there);
  if (found.runs) throw failure(`${cluster} runs incarnation ${token} already`, there);
  if (found.fault !== undefined) throw failure(found.fault, there);
  return found;
}

/** What happens, said before it is asked for. One line each. */
function effectOf(
  { metadata: { name } }: EtcdCluster,
  {
    chosen,
    all,
    again,
    now,
  }: {
    readonly chosen: ShownIncarnation;
    readonly all: readonly ShownIncarnation[];
    readonly again: string;
    readonly now: number;
  },
): readonly string[] {
  const running = all.find(({ runs }) => runs);
  const left = chosen.leftAt === undefined ? '' : `, left ${age(chosen.leftAt, now)} ago (${chosen.leftAt})`;
  const seen = running?.seenAt === undefined ? '' : `, seen ${age(running.seenAt, now)} ago`;
  const since = running?.since === undefined ? '' : ` since ${running.since}`;
  return [
    `This will make cluster/${name} what it was before:`,
    `  incarnation ${chosen.token}, cluster id ${chosen.clusterID ?? 'not known'}${left}`,
    `  revision ${chosen.revision ?? 'not known'} at least, etcd ${chosen.versions.join(', ')}, on claim ${chosen.claims.map(claim => claim.name).join(', ')}`,
    `Given up is what was written${since} to the cluster that runs now, and what is written until clients are shut out:`,
    `  incarnation ${running?.token ?? 'not known'}, cluster id ${running?.clusterID ?? 'not known'}, revision ${running?.revision ?? 'not known'}${seen}`,
    `Its claims are kept, so that it can be gone back to in turn: ${again}`,
    'All members are stopped, and clients are shut out until the others serve. Revisions go back, and clients that watch are not notified:',
    'restart such clients afterwards.',
  ];
}
