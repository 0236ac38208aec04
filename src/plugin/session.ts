/** The API server that a command line leads to, and the few calls that the plugin makes of it. */
import { API_VERSION, REQUEST_KIND } from '../api/names.ts';
import type {
  EtcdBackup,
  EtcdCluster,
  EtcdRequest,
  EtcdRequestSpec,
  EtcdRestore,
} from '../api/schemas/types.ts';
import { printable } from '../api/values/printable.ts';
import { type ClosableKubeClient, createKubeClient } from '../kube/client.ts';
import { KubeconfigError } from '../kube/connection.ts';
import { FileCredentials } from '../kube/credentials.ts';
import { kubeContext } from '../kube/kubeconfig.ts';
import { type KubeClient, type KubeObject, silentLogger } from '../kube/port.ts';
import type { Flags } from './arguments/flags.ts';
import { failure } from './failure.ts';
import type { Where } from './views/command-lines.ts';

/** What the plugin shows, by kind. */
export interface Kinds {
  readonly EtcdCluster: EtcdCluster;
  readonly EtcdBackup: EtcdBackup;
  readonly EtcdRequest: EtcdRequest;
  readonly EtcdRestore: EtcdRestore;
}

/** How the API server's audit log and the managed fields name this program. */
const PROGRAM = 'kubectl-etcd';

/** A person waits: three attempts, and an answer of any kind within seconds. */
const PATIENCE = {
  timeoutMs: 20_000,
  attemptTimeoutMs: 8_000,
  connections: 4,
  retry: { backoff: { firstMs: 100, maxMs: 1_000 }, attempts: 3 },
} as const;

/** One command's connection. Close it, or the process stays. All failures of calls are KubeErrors. */
export class Session {
  readonly where: Where;
  readonly context: string;
  readonly #client: ClosableKubeClient;

  /** @throws Failure when the kubeconfig cannot be used */
  constructor(flags: Flags) {
    const file = flags.value('kubeconfig');
    const context = flags.value('context');
    const used = contextOf({ file, context });
    this.context = used.name;
    const namespace = flags.value('namespace') ?? used.namespace ?? 'default';
    this.where = { namespace, context, kubeconfig: file };
    this.#client = createKubeClient({
      credentials: new FileCredentials({
        source: file === undefined ? 'default' : { file },
        context,
        logger: silentLogger,
      }),
      fieldManager: PROGRAM,
      userAgent: PROGRAM,
      ...PATIENCE,
    });
  }

  /** The object of this name in the namespace; undefined when there is none, or its kind is not known to the API server. */
  async get<K extends keyof Kinds>(kind: K, name: string): Promise<Kinds[K] | undefined> {
    const { namespace } = this.where;
    const found = await this.#client.get({ apiVersion: API_VERSION, kind, namespace, name });
    return found === undefined ? undefined : read<Kinds[K]>(found);
  }

  /** All objects of a kind in the namespace, or in every one. */
  async list<K extends keyof Kinds>(
    kind: K,
    options: { readonly everywhere?: boolean } = {},
  ): Promise<Kinds[K][]> {
    const namespace = options.everywhere === true ? undefined : this.where.namespace;
    const { items } = await this.#client.list({ apiVersion: API_VERSION, kind }, { namespace });
    return items.map(item => read<Kinds[K]>(item));
  }

  /** Objects of another kind, with these labels, in the namespace or in every one. */
  async listLabelled(
    kind: { readonly apiVersion: string; readonly kind: string },
    { everywhere, labelSelector }: { readonly everywhere: boolean; readonly labelSelector: string },
  ): Promise<KubeObject[]> {
    const namespace = everywhere ? undefined : this.where.namespace;
    const { items } = await this.#client.list(kind, { namespace, labelSelector });
    return items.map(item => harmless(item) as KubeObject);
  }

  /** The user name that the API server knows this person by. */
  async whoAmI(): Promise<string> {
    const review = await this.#client.create({
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'SelfSubjectReview',
      metadata: {},
    });
    const status = review['status'] as { readonly userInfo?: { readonly username?: string } } | undefined;
    const username = status?.userInfo?.username;
    if (username === undefined || username === '')
      throw failure('the API server did not say who you are', 'Check with: kubectl auth whoami');
    return username;
  }

  /** Creates the EtcdRequest under a name that begins with `prefix`; with `dryRun` it is checked only. */
  async ask(prefix: string, spec: EtcdRequestSpec, dryRun: boolean): Promise<EtcdRequest> {
    const { namespace } = this.where;
    const metadata = { generateName: `${prefix}-`, namespace };
    const object = { apiVersion: API_VERSION, kind: REQUEST_KIND, metadata, spec };
    return read<EtcdRequest>(await this.#client.create(object, { dryRun }));
  }

  /** The client itself, for what looks at more than these kinds. What it answers is as it came: {@link read} it before it is shown. */
  get kube(): KubeClient {
    return this.#client;
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}

/** Only texts of ours and of the file system are passed on: those of parsers may quote the file. */
function contextOf(options: Parameters<typeof kubeContext>[0]): ReturnType<typeof kubeContext> {
  try {
    return kubeContext(options);
  } catch (error) {
    const isOurs = error instanceof KubeconfigError || (error instanceof Error && 'syscall' in error);
    const said = isOurs ? error.message : 'it cannot be read; it must be a kubeconfig in YAML';
    throw failure(
      `the kubeconfig cannot be used: ${said}`,
      'Name one with --kubeconfig FILE or $KUBECONFIG, and one of its contexts with --context.',
      'List the contexts with: kubectl config get-contexts',
    );
  }
}

/** The object without what nobody reads, and without what a terminal would act upon. */
function read<T>(object: KubeObject): T {
  const { managedFields: _, ...metadata } = object.metadata;
  return harmless({ ...object, metadata }) as T;
}

function harmless(value: unknown): unknown {
  if (typeof value === 'string') return printable(value);
  if (Array.isArray(value)) return value.map(harmless);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [printable(key), harmless(entry)]));
}
