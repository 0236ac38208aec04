/** Opens the store that a resource names. Each adapter, and what it needs, is loaded only when it is used. */
import type { AllowedAddresses } from './addresses.ts';
import type { HttpOptions } from './http.ts';
import { checkIdentityEndpoint, checkSecretEndpoint } from './identity-endpoint.ts';
import { StoreMemory } from './memory.ts';
import { endpointUrl, splitPath } from './names.ts';
import { type Store, StoreError } from './port.ts';
import { RemoteStore } from './remote.ts';
import {
  awsCredentials,
  azureCredentials,
  googleCredentials,
  ossCredentials,
  type SecretData,
  secretTexts,
} from './secrets.ts';

interface Addressed {
  /** `bucket/key`. */
  readonly path: string;
  readonly endpoint?: string | undefined;
}

/** Which store, as the blocks of EtcdBackup and EtcdRestore say; empty texts are as good as none. */
export type StoreSpec =
  | (Addressed & {
      readonly type: 'S3';
      readonly region?: string | undefined;
      readonly forcePathStyle?: boolean | undefined;
    })
  | (Addressed & { readonly type: 'ABS' })
  | (Addressed & { readonly type: 'GCS' })
  | (Addressed & { readonly type: 'OSS' })
  /** `folder` is where the claim is mounted, `path` the key within. */
  | { readonly type: 'File'; readonly folder: string; readonly path: string };

export interface OpenOptions extends Partial<Omit<HttpOptions, 'isForeign'>> {
  /** Variables in which clouds tell a pod its identity; default this process's own. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Hosts besides the clouds' own that may receive tokens of the pod's identity; default none. */
  readonly trustedHosts?: readonly string[];
  /** Hosts besides the clouds' own that may receive what the Secret holds; default all. */
  readonly secretHosts?: AllowedAddresses | undefined;
}

/** The kernel's buffers hide the progress of a slow upload's last megabytes: hence a whole minute of silence. */
const DEFAULTS = { silenceMs: 60_000, attempts: 5 };

const OSS_DEFAULT = 'https://oss-cn-hangzhou.aliyuncs.com';
const GCS_DEFAULT = 'https://storage.googleapis.com';

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
  const memory = options.memory ?? new StoreMemory().share('');
  const http = {
    ...DEFAULTS,
    ...definedOnly(options),
    memory,
    isForeign: isForeign(spec, secret, options.allowed),
  };
  const secrets = secret === undefined ? [] : secretTexts(secret);
  const { environment, trustedHosts, secretHosts } = options;
  switch (spec.type) {
    case 'S3':
      return openS3(spec, secret, { http, secrets });
    case 'ABS':
      return openAzure(spec, secret, { http, secrets, environment, trustedHosts, secretHosts });
    case 'GCS':
      return openGoogle(spec, secret, { http, secrets, trustedHosts, secretHosts });
    case 'OSS':
      return openOss(spec, secret, { http, secrets, secretHosts });
    case 'File':
      return (await import('./file.ts')).openFileStore(spec.folder);
  }
}

interface Common {
  readonly http: HttpOptions;
  readonly secrets: readonly string[];
  readonly environment?: OpenOptions['environment'];
  readonly trustedHosts?: OpenOptions['trustedHosts'];
  readonly secretHosts?: OpenOptions['secretHosts'];
}

function definedOnly({ silenceMs, attempts, allowed }: OpenOptions): Partial<Omit<HttpOptions, 'memory'>> {
  return {
    ...(silenceMs !== undefined && { silenceMs }),
    ...(attempts !== undefined && { attempts }),
    ...(allowed !== undefined && { allowed }),
  };
}

/** Hosts of the clouds: everybody reaches them, so there is nothing about them to find out. */
const CLOUDS =
  /\.(amazonaws\.com|amazonaws\.com\.cn|googleapis\.com|aliyuncs\.com|core\.(windows\.net|chinacloudapi\.cn|usgovcloudapi\.net|cloudapi\.de)|storage\.azure\.net)$/;

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
    return !CLOUDS.test(host) && !allowed.coversName(host) && !allowed.coversAddress(host);
  });
}

async function openS3(
  spec: StoreSpec & { readonly type: 'S3' },
  secret: SecretData | undefined,
  common: Common,
): Promise<Store> {
  const { bucket } = splitPath(spec.path);
  const credentials = secret && awsCredentials(secret);
  const region = spec.region || credentials?.region;
  const { s3Protocol } = await import('./s3.ts');
  return new RemoteStore(
    s3Protocol({
      bucket,
      endpoint: spec.endpoint ? endpointUrl(spec.endpoint, '') : undefined,
      forcePathStyle: spec.forcePathStyle ?? false,
      region,
      ...(credentials && { credentials }),
      ...common,
    }),
    common.http.memory,
  );
}

async function openAzure(
  spec: StoreSpec & { readonly type: 'ABS' },
  secret: SecretData | undefined,
  common: Common,
): Promise<Store> {
  const { bucket: container } = splitPath(spec.path);
  const { azureProtocol } = await import('./azure.ts');
  if (secret !== undefined) {
    const { account, key, suffix } = azureCredentials(secret);
    const service = endpointUrl(spec.endpoint, `https://${account}.${suffix}`);
    checkSecretEndpoint('abs', service, common.secretHosts);
    return new RemoteStore(
      azureProtocol({ service, container, credentials: { name: account, key }, ...common }),
      common.http.memory,
    );
  }
  if (!spec.endpoint) {
    throw new StoreError(
      'invalid',
      'without absSecret, abs.endpoint must name the account: https://<account>.blob.core.windows.net',
    );
  }
  const service = endpointUrl(spec.endpoint, '');
  checkIdentityEndpoint('abs', service, common.trustedHosts);
  const [{ azureToken }, { HttpClient }] = await Promise.all([
    import('./azure-token.ts'),
    import('./http.ts'),
  ]);
  // Where the operator's own identity is asked for is not the author's choice.
  const identity = new HttpClient(async () => ({}), { ...common.http, allowed: undefined });
  const token = azureToken(common.environment ?? process.env, identity);
  const protocol = azureProtocol({ service, container, credentials: { token }, ...common });
  return new RemoteStore(protocol, common.http.memory, () => identity.close());
}

async function openGoogle(
  spec: StoreSpec & { readonly type: 'GCS' },
  secret: SecretData | undefined,
  common: Common,
): Promise<Store> {
  const { bucket } = splitPath(spec.path);
  const credentials = secret && googleCredentials(secret);
  const endpoint = endpointUrl(spec.endpoint, GCS_DEFAULT);
  if (credentials === undefined) checkIdentityEndpoint('gcs', endpoint, common.trustedHosts);
  else checkSecretEndpoint('gcs', endpoint, common.secretHosts);
  const [{ googleProtocol }, { googleToken }, { HttpClient }] = await Promise.all([
    import('./google.ts'),
    import('./google-token.ts'),
    import('./http.ts'),
  ]);
  const identity = new HttpClient(async () => ({}), common.http);
  const token = googleToken(credentials, identity);
  const protocol = googleProtocol({ endpoint, bucket, token, ...common });
  return new RemoteStore(protocol, common.http.memory, () => identity.close());
}

async function openOss(
  spec: StoreSpec & { readonly type: 'OSS' },
  secret: SecretData | undefined,
  common: Common,
): Promise<Store> {
  const { bucket } = splitPath(spec.path);
  const endpoint = endpointUrl(spec.endpoint, OSS_DEFAULT);
  const { ossProtocol } = await import('./oss.ts');
  if (secret === undefined) {
    throw new StoreError('invalid', 'OSS needs a Secret: name it in oss.ossSecret');
  }
  const given = ossCredentials(secret);
  checkSecretEndpoint('oss', endpoint, common.secretHosts);
  return new RemoteStore(
    ossProtocol({ endpoint, bucket, keys: async () => given, ...common }),
    common.http.memory,
  );
}
