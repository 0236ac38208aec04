/**
 * What may come next on a command line, for kubectl's shell completion: kubectl runs kubectl_complete-etcd with the words that were
 * typed, and reads what cobra prints (https://pkg.go.dev/k8s.io/kubectl/pkg/cmd/plugin, "plugin completion").
 */
import { type FlagName, type Flags, FLAGS, GLOBAL_FLAGS } from './arguments/flags.ts';
import { parseCommandLine } from './arguments/parse.ts';
import { globalFlagsOf } from './commands/command.ts';
import { SCRIPTS } from './commands/completion-scripts.ts';
import { COMMANDS } from './commands/table.ts';
import type { Io } from './io.ts';
import type { EtcdCluster } from '../api/schemas/types.ts';
import { claimsOfCluster } from './restore/going-back.ts';
import { incarnationsOf } from './views/incarnations.ts';
import { Session } from './session.ts';

/** One word, and what it stands for if that needs words. */
interface Candidate {
  readonly word: string;
  readonly about?: string;
}

/** cobra's ShellCompDirectiveNoFileComp: no file is meant. */
const NO_FILES = ':4';
/** Of cobra's ShellCompDirectiveDefault: the shell completes files. */
const FILES = ':0';

/** Writes what the last of `words` can become. Whatever goes wrong, there is nothing to offer: nobody reads errors at a prompt. */
export async function complete(words: readonly string[], io: Io): Promise<void> {
  const typed = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  const flag = openFlag(before);
  const candidates = await candidatesFor(before, typed, flag).catch((): Candidate[] => []);
  const lines = candidates
    .filter(({ word }) => word.startsWith(typed))
    .map(({ word, about }) => (about === undefined ? word : `${word}\t${about}`));
  io.out([...lines, ['kubeconfig', 'filename', 'to'].includes(flag ?? '') ? FILES : NO_FILES, ''].join('\n'));
}

/** The flag that the next word is the value of. */
function openFlag(before: readonly string[]): FlagName | undefined {
  const last = before.at(-1) ?? '';
  const names = Object.keys(FLAGS) as FlagName[];
  return names.find(
    name => FLAGS[name].value !== undefined && (last === `--${name}` || last === `-${FLAGS[name].short}`),
  );
}

async function candidatesFor(
  before: readonly string[],
  typed: string,
  flag: FlagName | undefined,
): Promise<readonly Candidate[]> {
  if (flag !== undefined) return (FLAGS[flag].choices ?? []).map(word => ({ word }));
  const { command, words, flags } = parseCommandLine(before);
  if (typed.startsWith('-')) return flagsOf(command);
  if (command === undefined || (command === 'help' && words.length === 0)) return commands();
  if (command === 'completion' && words.length === 0) return [...SCRIPTS.keys()].map(word => ({ word }));
  return namesFor(command, words, flags);
}

const commands = (): readonly Candidate[] =>
  Object.entries(COMMANDS).map(([word, { about }]) => ({ word, about }));

function flagsOf(command: string | undefined): readonly Candidate[] {
  const row = command === undefined ? undefined : COMMANDS[command];
  const taken = row === undefined ? GLOBAL_FLAGS : [...row.flags, ...globalFlagsOf(row)];
  return taken.map(name => ({ word: `--${name}`, about: FLAGS[name].about }));
}

/** Commands whose name is that of an EtcdBackup. */
const OF_BACKUPS = ['backup', 'backups', 'verify', 'verify-again'];

/** Incarnations that can be gone back to. */
async function keptOf(session: Session, cluster: EtcdCluster | undefined): Promise<readonly Candidate[]> {
  if (cluster === undefined) return [];
  const all = incarnationsOf(cluster, await claimsOfCluster(session, cluster.metadata.name));
  return all
    .filter(({ runs, fault }) => !runs && fault === undefined)
    .map(({ token, revision }) => ({
      word: token,
      ...(revision !== undefined && { about: `revision ${revision}` }),
    }));
}

/** Names of resources, and of members after the name of a cluster. */
async function namesFor(
  command: string,
  words: readonly string[],
  flags: Flags,
): Promise<readonly Candidate[]> {
  const most = COMMANDS[command]?.words[1] ?? 0;
  if (words.length >= most) return [];
  const session = new Session(flags);
  try {
    const [name] = words;
    if (name !== undefined) {
      const cluster = await session.get('EtcdCluster', name);
      if (command === 'go-back') return await keptOf(session, cluster);
      return (cluster?.status?.members?.details ?? []).map(member => ({ word: member.name }));
    }
    const found = await session.list(OF_BACKUPS.includes(command) ? 'EtcdBackup' : 'EtcdCluster');
    return found.map(({ metadata }) => ({ word: metadata.name }));
  } finally {
    await session.close();
  }
}
