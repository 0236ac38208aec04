/** Every flag of the plugin. Pure data: parsing, help and completion follow from it. */
interface FlagRow {
  readonly short?: string;
  /** What stands for the value in help; absent: the flag has none. */
  readonly value?: string;
  /** The values that there are, if they are few. */
  readonly choices?: readonly string[];
  readonly about: string;
}

const TABLE = {
  namespace: { short: 'n', value: 'NAMESPACE', about: 'the namespace; otherwise that of the context' },
  filename: {
    short: 'f',
    value: 'FILE',
    about: 'the manifest of the EtcdCluster; - reads the standard input',
  },
  'all-namespaces': { short: 'A', about: 'every namespace' },
  context: { value: 'CONTEXT', about: 'the context of the kubeconfig; otherwise its current context' },
  kubeconfig: { value: 'FILE', about: 'the kubeconfig; otherwise $KUBECONFIG or ~/.kube/config' },
  output: { short: 'o', value: 'FORMAT', choices: ['json', 'yaml'], about: 'json or yaml, for programs' },
  'no-color': { about: 'no colors; without a terminal, or with $NO_COLOR, there are none' },
  help: { short: 'h', about: 'show the help of the command' },
  watch: { short: 'w', about: 'show it again whenever it changes, until interrupted' },
  wait: { about: 'wait until the request is finished, and show what became of it' },
  timeout: {
    value: 'DURATION',
    about: 'how long --wait waits, such as 90s, 30m or 2h; 30m by default, 1h for a restore',
  },
  yes: { short: 'y', about: 'do not ask for confirmation' },
  'dry-run': { about: 'have the API server check the request, print it, and do not send it' },
  reason: { value: 'TEXT', about: 'why; it appears in status, events and the history of the workflow' },
  expires: {
    value: 'DURATION',
    about: 'until when the request may be accepted, 10s to 24h; 1h by default',
  },
  from: {
    value: 'BACKUP',
    about: 'the EtcdBackup to restore from, or the location of a backup that one keeps',
  },
  at: { value: 'WHEN', about: 'the newest backup until a time or a revision; Latest by default' },
  'before-upgrade': {
    about:
      'the backup from before the last upgrade to another minor version, as status.beforeUpgrade names it',
  },
  'save-first': {
    about: 'save the data as it is now before anything is stopped; --before-upgrade always does',
  },
  'cluster-id': {
    value: 'ID',
    about: 'the id of the cluster whose data may be overwritten; needed with --yes',
  },
  member: { value: 'MEMBER', about: 'the member to ask; otherwise one that is healthy' },
  to: { value: 'FILE', about: 'the file to write, which must not exist' },
  'operator-namespace': { value: 'NAMESPACE', about: 'where the operator runs; etcd-operator by default' },
  'temporal-address': {
    value: 'HOST:PORT',
    about: "Temporal's frontend as you reach it; otherwise a port is forwarded to the operator's",
  },
  'temporal-namespace': { value: 'NAMESPACE', about: "the Temporal namespace; otherwise the operator's" },
  location: {
    value: 'LOCATION',
    about: 'the stored backup, as backups BACKUPNAME names it; otherwise the newest',
  },
  level: {
    value: 'LEVEL',
    choices: ['Structure', 'Restore'],
    about: 'how it is verified: Structure reads it with etcdutl, Restore also restores it in a pod',
  },
  operation: { value: 'OPERATION', about: 'the operation that waits, as explain names it' },
  id: { value: 'ID', about: 'an id that is approved, as explain names it; may be repeated' },
  'give-up': {
    value: 'ID',
    about: 'the id of a member that is given up; may be repeated; otherwise as the status offers it',
  },
  revision: { value: 'REVISION', about: 'the revision of the member to recover from; needed with --yes' },
} as const satisfies Readonly<Record<string, FlagRow>>;

export type FlagName = keyof typeof TABLE;

export const FLAGS: Readonly<Record<FlagName, FlagRow>> = TABLE;

/** The flags that every command takes. */
export const GLOBAL_FLAGS: readonly FlagName[] = [
  'namespace',
  'context',
  'kubeconfig',
  'output',
  'no-color',
  'help',
];

/** The flags of a command line, with their values. */
export class Flags {
  readonly #values: ReadonlyMap<FlagName, readonly string[]>;

  constructor(values: ReadonlyMap<FlagName, readonly string[]>) {
    this.#values = values;
  }

  has(name: FlagName): boolean {
    return this.#values.has(name);
  }

  /** The value; the last one, if it was given several times. */
  value(name: FlagName): string | undefined {
    return this.#values.get(name)?.at(-1);
  }

  all(name: FlagName): readonly string[] {
    return this.#values.get(name) ?? [];
  }
}
