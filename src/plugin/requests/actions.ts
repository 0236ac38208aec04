/** What can be asked for, by the command that sends the EtcdRequest. Pure. */
import { type ActionCommand, ACTIONS as ROWS } from '../../api/actions.ts';

export type ActionName = ActionCommand;

export const ACTIONS = Object.fromEntries(ROWS.map(row => [row.command, row])) as Readonly<
  Record<ActionName, (typeof ROWS)[number]>
>;

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
