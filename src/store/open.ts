/** Opens the store that a resource names. Each adapter, and what it needs, is loaded only when it is used. */
import { STORE_ROWS, type StoreType } from '../api/stores.ts';
import { withoutUndefined } from '../api/values/without-undefined.ts';
import type { StoreSpec, Opening } from './opening.ts';
import type { AllowedAddresses } from './addresses.ts';
import type { HttpOptions } from './http.ts';
import { StoreMemory } from './memory.ts';
import { endpointUrl, splitPath } from './names.ts';
import type { Store } from './port.ts';
import { googleCredentials, type SecretData, secretTexts } from './secrets.ts';

const ADAPTERS: {
  readonly [Type in StoreType]: (spec: StoreSpec<Type>, opening: Opening) => Promise<Store>;
} = {
  S3: async (spec, opening) => (await import('./s3.ts')).openS3(spec, opening),
  ABS: async (spec, opening) => (await import('./azure.ts')).openAzure(spec, opening),
  GCS: async (spec, opening) => (await import('./google.ts')).openGoogle(spec, opening),
  OSS: async (spec, opening) => (await import('./oss.ts')).openOss(spec, opening),
  File: async ({ folder }) => (await import('./file.ts')).openFileStore(folder),
};

/** Opens a store with the adapter of its type. */
function openWith<Type extends StoreType>(spec: StoreSpec<Type>, opening: Opening): Promise<Store> {
  return ADAPTERS[spec.type](spec, opening);
}

export interface OpenOptions extends Partial<Omit<HttpOptions, 'isForeign'>> {
  /** Variables in which clouds give a pod its identity; default none. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Hosts besides the clouds' own that may receive tokens of the pod's identity; default none. */
  readonly trustedHosts?: readonly string[];
  /** Hosts besides the clouds' own that may receive what the Secret holds; default all. */
  readonly secretHosts?: AllowedAddresses | undefined;
}

/** The kernel's buffers hide the progress of a slow upload's last megabytes: hence a whole minute of silence. */
const DEFAULTS = { silenceMs: 60_000, attempts: 5 };

/** The key that a spec's path names: of a one-shot backup the object itself, of periodic ones the beginning of their names. */
export function keyOf(spec: StoreSpec): string {
  return spec.type === 'File' ? spec.path : splitPath(spec.path).key;
}

/**
 * Opens a store. Sends nothing yet.
 * @param secret the data of the Secret that the resource names; undefined: the identity of the pod
 * @throws StoreError `invalid` when the spec or the Secret cannot be understood
 */
export async function openStore(
  spec: StoreSpec,
  secret: SecretData | undefined,
  options: OpenOptions = {},
): Promise<Store> {
  const { silenceMs, attempts, allowed, authorities } = options;
  const memory = options.memory ?? new StoreMemory().share('');
  const http = {
    ...DEFAULTS,
    ...withoutUndefined<Partial<HttpOptions>>({ silenceMs, attempts, allowed, authorities }),
    memory,
    isForeign: isForeign(spec, secret, allowed),
  };
  const { environment = {}, trustedHosts, secretHosts } = options;
  const secrets = secret === undefined ? [] : secretTexts(secret);
  return openWith(spec, { secret, secrets, http, environment, trustedHosts, secretHosts });
}

const CLOUDS = STORE_ROWS.flatMap(({ domains = [] }) => domains);

/** Whether what is asked, or where a token is asked for, is a host that the resource's author chose and no administrator has named. */
function isForeign(
  spec: StoreSpec,
  secret: SecretData | undefined,
  allowed: AllowedAddresses | undefined,
): boolean {
  if (allowed === undefined || spec.type === 'File') return false;
  const google = spec.type === 'GCS' && secret !== undefined ? googleCredentials(secret) : undefined;
  const asked = google?.type === 'service_account' ? [google.tokenUri] : [];
  if (spec.endpoint) asked.push(endpointUrl(spec.endpoint, '').href);
  return asked.some(url => {
    const host = (URL.parse(url)?.hostname ?? '').replace(/^\[(.*)\]$/, '$1');
    const ofCloud = CLOUDS.some(domain => host.endsWith(`.${domain}`));
    return !ofCloud && !allowed.coversName(host) && !allowed.coversAddress(host);
  });
}
