/** Sends an EtcdRequest: says what it will do, asks, creates it, and follows it if that is wanted. */
import type { EtcdCluster, EtcdRequestSpec } from '../../api/schemas/types.ts';
import { secondsOf } from '../arguments/duration.ts';
import type { Call } from '../commands/command.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { failure, usageFailure } from '../failure.ts';
import { need } from '../not-found.ts';
import { formatted } from '../output.ts';
import { pluginLine } from '../views/command-lines.ts';
import { ACTIONS, type ActionName, type Target, targetNamed, wordFor } from './actions.ts';
import { follow } from './follow.ts';
import { flagsOf, recoveryLines } from './recovery.ts';
import { approvedStep, specificationOf } from './specification.ts';

/** How long --wait waits by default, in seconds: a replacement or a rollout takes minutes. */
const WAIT_SECONDS = 1_800;

/** Runs one of the commands that ask for something. @throws Failure, KubeError */
export async function send(command: ActionName, call: Call): Promise<ExitCode> {
  const { words, flags, session } = call;
  const [word = '', member] = words;
  const target = checkedTarget(command, word);
  const seconds = secondsOf(flags.value('timeout') ?? String(WAIT_SECONDS), 'timeout');
  checkFlags(call);
  const cluster = await targetOf(call, target);
  const wanted = specificationOf({ command, target, member, flags }, cluster);
  const spec: EtcdRequestSpec = { ...wanted, by: await session.whoAmI() };
  if (flags.has('dry-run')) {
    explainRecovery(call, spec, cluster);
    const checked = await session.ask(command, spec, true);
    call.io.out(formatted(checked, flags.value('output') ?? 'yaml'));
    return EXIT.done;
  }
  checkTerminal(call, command, spec);
  await confirm(call, { command, target, spec, cluster });
  const created = await session.ask(command, spec, false);
  call.io.err(`etcdrequest/${created.metadata.name} created\n`);
  if (flags.has('wait')) return follow(call, created, seconds);
  const next = pluginLine(session.where, 'requests', created.metadata.name);
  call.show({ data: created, lines: [['What becomes of it: ', next]] });
  return EXIT.done;
}

function checkedTarget(command: ActionName, word: string): Target {
  const target = targetNamed(command, word);
  const { of } = ACTIONS[command];
  if (target.kind === 'EtcdBackup' && of === 'clusters')
    throw usageFailure(`${command} is for clusters, and ${word} is a backup`);
  if (target.kind === 'EtcdCluster' && of === 'backups')
    throw usageFailure(
      `${command} needs the name of an EtcdBackup, which says where the backup ${command === 'backup' ? 'goes' : 'is'}`,
      'List those of a cluster with: kubectl etcd backups CLUSTER',
    );
  return target;
}

/** Before anything is asked of the API server. */
function checkFlags({ flags }: Call): void {
  if (flags.has('timeout') && !flags.has('wait')) throw usageFailure('--timeout belongs to --wait');
}

/** Before anything is sent, and after the request was found to make sense: the flags that it names can be typed. */
function checkTerminal({ flags, io }: Call, command: ActionName, { recovery }: EtcdRequestSpec): void {
  if (flags.has('yes') || io.canAsk) return;
  const facts = recovery === undefined ? '' : ` ${flagsOf(recovery)}`;
  throw usageFailure(
    `${command} needs a confirmation, and there is no terminal to ask on`,
    `Add --yes${facts} to send it without being asked, or --dry-run to see it.`,
  );
}

async function targetOf({ session }: Call, { kind, name }: Target): Promise<EtcdCluster | undefined> {
  if (kind === 'EtcdCluster') return need(session, kind, name);
  await need(session, kind, name);
  return undefined;
}

interface Ready {
  readonly command: ActionName;
  readonly target: Target;
  readonly spec: EtcdRequestSpec;
  readonly cluster: EtcdCluster | undefined;
}

/** Says what will be done; without --yes, nothing is done before a person has agreed. @throws Failure when they do not */
async function confirm(
  { flags, io, session }: Call,
  { command, target, spec, cluster }: Ready,
): Promise<void> {
  const { namespace } = session.where;
  const effect = ACTIONS[command].effect(wordFor(target), spec.member ?? '');
  const step = spec.action === 'Approve' && cluster !== undefined ? `\n  ${approvedStep(cluster, spec)}` : '';
  io.err(`This will ${effect}.${step}\n`);
  explainRecovery({ io }, spec, cluster);
  io.err(`Namespace ${namespace}, context ${session.context}, asked by ${spec.by}.\n`);
  if (flags.has('yes')) return;
  const answer = ((await io.ask('Send it? [y/N] ')) ?? '').trim().toLowerCase();
  if (answer !== 'y' && answer !== 'yes') throw failure('not sent: it was not confirmed');
}

/** All that is known of what a recovery gives up. */
function explainRecovery(
  { io }: Pick<Call, 'io'>,
  { member = '', recovery }: EtcdRequestSpec,
  cluster: EtcdCluster | undefined,
): void {
  if (recovery === undefined || cluster === undefined) return;
  for (const line of recoveryLines(cluster, member, recovery)) io.err(`${line}\n`);
}
