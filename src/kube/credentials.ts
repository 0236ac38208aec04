import { errorFields, KubeError } from './errors.ts';
import { KubeconfigError, type Connection, type ConnectionSource } from './connection.ts';
import type { KubeLogger } from './port.ts';
import { type ServiceAccount, serviceAccount } from './service-account.ts';

export interface Credentials {
  /** @throws KubeError of reason `Credentials` when there is none, and never was. */
  connection(): Promise<Connection>;
  /** The apiserver has refused them: read everything again on the next call. */
  invalidate(): void;
}

/** Where credentials come from: a kubeconfig file, the pod's service account, or the rules that kubectl follows. */
export type CredentialsSource =
  | { readonly file: string }
  | { readonly serviceAccount: ServiceAccount }
  | 'default';

export interface CredentialsOptions {
  readonly source: CredentialsSource;
  /** Of a kubeconfig. */
  readonly context?: string | undefined;
  readonly logger: KubeLogger;
  /** How long what was read from files counts as fresh; 10 s by default. Kubernetes rotates well ahead of expiry. */
  readonly refreshMs?: number | undefined;
}

/**
 * Credentials that follow their files: tokens, client certificates, CA and the kubeconfig itself are read again
 * when they are older than `refreshMs`, and at once after the apiserver refused them. A read that fails, or finds
 * a certificate without its key because a rotation is half done, leaves the former credentials in use.
 */
export class FileCredentials implements Credentials {
  readonly #options: CredentialsOptions;
  #source: ConnectionSource | undefined;
  #current: Connection | undefined;
  #freshUntil = 0;
  #reading: Promise<Connection> | undefined;

  constructor(options: CredentialsOptions) {
    this.#options = options;
  }

  async connection(): Promise<Connection> {
    if (this.#current !== undefined && performance.now() < this.#freshUntil) return this.#current;
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  invalidate(): void {
    this.#freshUntil = 0;
    this.#source?.forget();
  }

  async #read(): Promise<Connection> {
    try {
      this.#source ??= await sourceOf(this.#options);
      this.#current = await this.#source.read();
    } catch (error) {
      if (this.#current === undefined) throw credentialsError(error);
      this.#options.logger.warn(
        'credentials could not be reloaded; the previous ones stay in use',
        errorFields(error),
      );
    }
    this.#freshUntil = performance.now() + (this.#options.refreshMs ?? 10_000);
    return this.#current;
  }
}

async function sourceOf({ source, context }: CredentialsOptions): Promise<ConnectionSource> {
  if (typeof source === 'object' && 'serviceAccount' in source) return serviceAccount(source.serviceAccount);
  const { kubeConfig } = await import('./kubeconfig.ts');
  return kubeConfig({ file: source === 'default' ? undefined : source.file, context });
}

/** File errors name the file; the texts of other libraries are not passed on. */
function credentialsError(error: unknown): KubeError {
  const isOurs = error instanceof KubeconfigError || (error instanceof Error && 'syscall' in error);
  const said = isOurs ? error.message : error instanceof Error ? error.name : typeof error;
  return new KubeError({
    code: 0,
    reason: 'Credentials',
    message: `the credentials for the API server could not be loaded: ${said}`,
    retry: 'later',
    notProcessed: true,
  });
}
