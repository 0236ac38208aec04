/** What can be asked for: one row for each command that sends an EtcdRequest. Pure. */
import type { EtcdRequestSpec } from '../../api/schemas/types.ts';

type Action = EtcdRequestSpec['action'];

interface ActionRow {
  readonly action: Action;
  /** What it is asked of. */
  readonly of: 'clusters' | 'backups' | 'both';
  /** Whether a member is named after the resource. */
  readonly member: 'none' | 'optional' | 'required';
  readonly about: string;
  /** What happens, said before it is sent. @param target such as `cluster/example`; `member` is '' when none is named */
  readonly effect: (target: string, member: string) => string;
}

const TABLE = {
  approve: {
    action: 'Approve',
    of: 'clusters',
    member: 'none',
    about: 'allow the one step that a cluster waits to have approved',
    effect: target => `allow ${target} to take the one step that waits for an approval`,
  },
  pause: {
    action: 'Pause',
    of: 'both',
    member: 'none',
    about: 'take no further step until resume; the members keep serving',
    effect: target =>
      `take no further step for ${target} until it is resumed; deletion and repairs wait, too`,
  },
  resume: {
    action: 'Resume',
    of: 'both',
    member: 'none',
    about: 'continue after pause',
    effect: target => `continue with ${target}`,
  },
  abort: {
    action: 'Abort',
    of: 'both',
    member: 'none',
    about: 'end the running operation at its next step, or withdraw what waits',
    effect: target =>
      `end the operation of ${target} at its next step and undo what can be undone; if none runs, withdraw all requests that wait, or refuse the step that waits for an approval`,
  },
  resync: {
    action: 'Resync',
    of: 'both',
    member: 'none',
    about: 'look now; also revokes an abort',
    effect: target => `look at ${target} now, and plan again what was aborted`,
  },
  replace: {
    action: 'ReplaceMember',
    of: 'clusters',
    member: 'required',
    about: 'replace a member by a new one',
    effect: (target, member) =>
      `replace the member ${member} of ${target}: a new member joins, the old one is stopped and removed, and its claim is kept or deleted as storage.retain says`,
  },
  'move-leader': {
    action: 'MoveLeader',
    of: 'clusters',
    member: 'required',
    about: 'transfer leadership to a member',
    effect: (target, member) => `transfer the leadership of ${target} to ${member}`,
  },
  restart: {
    action: 'Restart',
    of: 'clusters',
    member: 'optional',
    about: 'restart every member, one at a time, or only one',
    effect: (target, member) =>
      member === ''
        ? `restart every member of ${target}, one at a time, the leader last`
        : `restart the member ${member} of ${target}`,
  },
  backup: {
    action: 'BackupNow',
    of: 'backups',
    member: 'none',
    about: 'take a backup now, to where the EtcdBackup says',
    effect: target => `take a backup now, as ${target} says`,
  },
  'verify-again': {
    action: 'VerifyBackup',
    of: 'backups',
    member: 'none',
    about: 'verify a stored backup again: read it back, and restore it in a pod if that is asked for',
    effect: target =>
      `read a stored backup of ${target} back and verify it in a pod; one that is found bad is not restored any more`,
  },
} as const satisfies Readonly<Record<string, ActionRow>>;

export type ActionName = keyof typeof TABLE;

export const ACTIONS: Readonly<Record<ActionName, ActionRow>> = TABLE;

/** A resource as it is named on the command line: `NAME`, `cluster/NAME` or `backup/NAME`. */
export interface Target {
  readonly kind: 'EtcdCluster' | 'EtcdBackup';
  readonly name: string;
}

/** A name alone is that of a cluster; for a command that only backups understand, that of an EtcdBackup. */
export function targetNamed(command: ActionName, word: string): Target {
  const [, prefix, name = ''] = /^(?:etcd)?(?:(cluster|backup)\/)?(.*)$/.exec(word) ?? [];
  if (prefix !== undefined) return { kind: prefix === 'backup' ? 'EtcdBackup' : 'EtcdCluster', name };
  return { kind: ACTIONS[command].of === 'backups' ? 'EtcdBackup' : 'EtcdCluster', name: word };
}

/** As users name it on the command line. */
export function wordFor({ kind, name }: Target): string {
  return `${kind === 'EtcdBackup' ? 'backup' : 'cluster'}/${name}`;
}
