/** The commands that send an EtcdRequest: one for each action. */
import type { FlagName } from '../arguments/flags.ts';
import { ACTIONS, type ActionName } from '../requests/actions.ts';
import { send } from '../requests/send.ts';
import type { CommandRow } from './command.ts';

const FLAGS: readonly FlagName[] = ['yes', 'wait', 'timeout', 'dry-run', 'reason', 'expires'];

/** The words of each form: at least, at most, and in help. */
const WORDS = {
  none: { count: [1, 1], usage: '' },
  optional: { count: [1, 2], usage: ' [MEMBER]' },
  required: { count: [2, 2], usage: ' MEMBER' },
} as const;

const OF_APPROVE = [
  'Without --operation and --id it approves what the cluster waits for, after you have read and confirmed it.',
  'With --yes both must be given: kubectl etcd explain NAME prints the whole command.',
];
const OF_BOTH = ['NAME is that of a cluster; write backup/NAME for an EtcdBackup.'];

function commandFor(name: ActionName): CommandRow {
  const { about, member, ofBackups } = ACTIONS[name];
  const { count, usage } = WORDS[member];
  const isBackup = name === 'backup';
  const more = name === 'approve' ? OF_APPROVE : ofBackups && !isBackup ? OF_BOTH : [];
  return {
    usage: `${isBackup ? 'BACKUPNAME' : 'NAME'}${usage}`,
    words: count,
    about,
    flags: name === 'approve' ? ['operation', 'id', ...FLAGS] : FLAGS,
    more,
    run: call => send(name, call),
  };
}

export const ASKING = Object.fromEntries(
  (Object.keys(ACTIONS) as ActionName[]).map(name => [name, commandFor(name)]),
) as Readonly<Record<ActionName, CommandRow>>;
