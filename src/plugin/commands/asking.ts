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
const OF_VERIFY = [
  'Without --location it is the newest backup; kubectl etcd backups BACKUPNAME lists the locations.',
  'Without --level it is verified as the EtcdBackup says, and at least with etcdutl (Structure).',
  'With --wait it ends with exit code 3 when the backup is not good, or no verdict could be reached.',
];
const OF_RECOVER = [
  'MEMBER is the one with the newest data of those that are left, as status.recovery of the cluster names it.',
  'Without --give-up the members are given up that are proved lost, as the status offers it.',
  'With --yes both --revision and --give-up must be given. docs/operations/disaster.md says what happens then.',
];
const OF_BOTH = ['NAME is that of a cluster; write backup/NAME for an EtcdBackup.'];

const MORE: Partial<Record<ActionName, readonly string[]>> = {
  approve: OF_APPROVE,
  recover: OF_RECOVER,
  'verify-again': OF_VERIFY,
};
const OWN_FLAGS: Partial<Record<ActionName, readonly FlagName[]>> = {
  approve: ['operation', 'id'],
  recover: ['give-up', 'revision'],
  'verify-again': ['location', 'level'],
};

function commandFor(name: ActionName): CommandRow {
  const { about, member, of } = ACTIONS[name];
  const { count, usage } = WORDS[member];
  return {
    usage: `${of === 'backups' ? 'BACKUPNAME' : 'NAME'}${usage}`,
    words: count,
    about,
    flags: [...(OWN_FLAGS[name] ?? []), ...FLAGS],
    more: MORE[name] ?? (of === 'both' ? OF_BOTH : []),
    run: call => send(name, call),
  };
}

export const ASKING = Object.fromEntries(
  (Object.keys(ACTIONS) as ActionName[]).map(name => [name, commandFor(name)]),
) as Readonly<Record<ActionName, CommandRow>>;
