/** A prompt for etcdctl. The image of etcd has no shell, so the plugin is one: it runs each line in the pod of a member. */
import { clusterNameOf } from '../commands/cluster-name.ts';
import type { Call } from '../commands/command.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { Failure, usageFailure } from '../failure.ts';
import { explainKubeError } from '../kube-failures.ts';
import { need } from '../not-found.ts';
import { chosenMember } from './chosen.ts';
import { runEtcdctl } from './reach.ts';
import { wordsOf } from './words.ts';

const ENDS = ['exit', 'quit'];

/** Asks for commands until a person ends it. What fails is said, and the next one is asked for. */
export async function shell(call: Call): Promise<ExitCode> {
  const { session, io, flags } = call;
  const name = clusterNameOf(call);
  if (!io.canAsk)
    throw usageFailure('shell needs a terminal', `Without one: kubectl etcd etcdctl ${name} -- COMMAND`);
  const look = async () => {
    const cluster = await need(session, 'EtcdCluster', name);
    return { cluster, member: chosenMember(cluster, flags.value('member')) };
  };
  let { member } = await look();
  io.err('Each line is a command of etcdctl, such as: endpoint status --cluster -w table. exit ends it.\n');
  while (!io.interrupted.aborted) {
    const line = await io.ask(`etcdctl ${member}> `);
    if (line === undefined || ENDS.includes(line.trim())) break;
    try {
      const [first, ...rest] = wordsOf(line);
      if (first === undefined) continue;
      const found = await look();
      ({ member } = found);
      await runEtcdctl(call, found, first === 'etcdctl' ? rest : [first, ...rest]);
    } catch (error) {
      const explained = explainKubeError(error);
      if (!(explained instanceof Failure)) throw error;
      io.err(`error: ${[explained.message, ...explained.advice].join('\n')}\n`);
    }
  }
  return EXIT.done;
}
