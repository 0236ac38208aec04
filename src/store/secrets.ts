/**
 * Credentials in the Secrets of the CoreOS operator, key by key. Pure: text in, values out. What cannot be
 * understood throws `invalid` with the name of the key, never with its value.
 */
import { StoreError } from './port.ts';

/** The data of a Secret, decoded from base64. */
export type SecretData = Readonly<Record<string, string>>;

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | undefined;
  /** As the config file says. */
  readonly region: string | undefined;
}

/** Reads `credentials` and, if it is there, `config`: files of the AWS tools, of which the profile `default` counts. */
export function awsCredentials(data: SecretData): AwsCredentials {
  const credentials = iniSection(required(data, 'credentials'), ['default']);
  const config = iniSection(data['config'] ?? '', ['default', 'profile default']);
  const find = (name: string) => credentials?.[name] ?? config?.[name];
  const [accessKeyId, secretAccessKey] = [find('aws_access_key_id'), find('aws_secret_access_key')];
  if (accessKeyId === undefined || secretAccessKey === undefined) {
    throw invalid(
      'credentials must have aws_access_key_id and aws_secret_access_key in its section [default]',
    );
  }
  return { accessKeyId, secretAccessKey, sessionToken: find('aws_session_token'), region: find('region') };
}

/** One section of an INI file as the AWS tools read it; undefined when there is none. Indented lines belong to nested values. */
function iniSection(text: string, names: readonly string[]): Readonly<Record<string, string>> | undefined {
  let found: Record<string, string> | undefined;
  let inside = false;
  for (const line of text.split(/\r?\n/)) {
    const header = /^\s*\[\s*([^\]]*?)\s*\]/.exec(line)?.[1];
    if (header !== undefined) {
      inside = names.includes(header);
      if (inside) found ??= {};
      continue;
    }
    const [, name, value] = /^([\w-]+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (inside && found !== undefined && name !== undefined && value) found[name.toLowerCase()] = value;
  }
  return found;
}

/** What a service account's key file holds that is used. */
export interface ServiceAccount {
  readonly type: 'service_account';
  readonly clientEmail: string;
  readonly privateKey: string;
  readonly privateKeyId: string | undefined;
  readonly tokenUri: string;
}

export type GoogleCredentials =
  | { readonly type: 'access-token'; readonly token: string }
  | ServiceAccount
  /** A person's, as `gcloud auth application-default login` writes it and Google's library reads it. */
  | { readonly type: 'authorized_user'; readonly file: Readonly<Record<string, unknown>> };

const GOOGLE_TOKENS = 'https://oauth2.googleapis.com/token';

/**
 * Reads `access-token`, an OAuth token, or `credentials.json`, the file of an account. Other kinds of files make Google's library
 * read files of this pod, or run programs, and send the result elsewhere: the author of a Secret must not be able to do that.
 */
export function googleCredentials(data: SecretData): GoogleCredentials {
  const token = data['access-token']?.trim();
  if (token) return { type: 'access-token', token };
  if (data['credentials.json'] === undefined)
    throw invalid('must have the key access-token or credentials.json');
  const file = parseJson(data['credentials.json'], 'credentials.json');
  const text = (name: string): string | undefined => {
    const value = file[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  if (file['type'] === 'authorized_user') {
    const known = ['type', 'client_id', 'client_secret', 'refresh_token', 'quota_project_id'];
    return {
      type: 'authorized_user',
      file: Object.fromEntries(known.flatMap(name => (text(name) === undefined ? [] : [[name, text(name)]]))),
    };
  }
  if (file['type'] !== 'service_account')
    throw invalid('credentials.json must be of the type service_account or authorized_user');
  const [clientEmail, privateKey] = [text('client_email'), text('private_key')];
  if (clientEmail === undefined || privateKey === undefined) {
    throw invalid('credentials.json must have client_email and private_key');
  }
  return {
    type: 'service_account',
    clientEmail,
    privateKey,
    privateKeyId: text('private_key_id'),
    tokenUri: text('token_uri') ?? GOOGLE_TOKENS,
  };
}

function parseJson(text: string, key: string): Readonly<Record<string, unknown>> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // The parser's message would quote the file.
    throw invalid(`${key} is not JSON`);
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw invalid(`${key} is not an object`);
  return { ...parsed };
}

export interface AzureCredentials {
  readonly account: string;
  /** Base64. */
  readonly key: string;
  /** Where the account's blob service is, after the account's name. */
  readonly suffix: string;
}

/** Azure's clouds by the names that its tools give them. */
const AZURE_CLOUDS: Readonly<Record<string, string>> = {
  AzureCloud: 'blob.core.windows.net',
  AzurePublicCloud: 'blob.core.windows.net',
  AzureChinaCloud: 'blob.core.chinacloudapi.cn',
  AzureUSGovernment: 'blob.core.usgovcloudapi.net',
  AzureUSGovernmentCloud: 'blob.core.usgovcloudapi.net',
  AzureGermanCloud: 'blob.core.cloudapi.de',
};

/** Reads `storage-account`, `storage-key` and, when it is not the public one, `cloud`. */
export function azureCredentials(data: SecretData): AzureCredentials {
  const account = required(data, 'storage-account').trim();
  const key = required(data, 'storage-key').trim();
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(key)) throw invalid('storage-key is not base64');
  const cloud = data['cloud']?.trim() || 'AzurePublicCloud';
  const suffix = AZURE_CLOUDS[cloud];
  if (suffix === undefined) {
    throw invalid(`cloud must be one of ${Object.keys(AZURE_CLOUDS).join(', ')}`);
  }
  return { account, key, suffix };
}

/** Every text of a Secret that must appear nowhere: its values, and the lines and values of the files that they are. */
export function secretTexts(data: SecretData): string[] {
  const texts = new Set<string>();
  for (const [key, value] of Object.entries(data)) {
    if (key === 'cloud' || key === 'storage-account') continue;
    texts.add(value.trim());
    for (const line of value.split('\n')) {
      const [, assigned] = /^\s*(?:\w*(?:key|token|secret)\w*)\s*=\s*(\S+)\s*$/i.exec(line) ?? [];
      if (assigned !== undefined) texts.add(assigned);
    }
    for (const [, quoted] of value.matchAll(
      /"(?:private_key|client_secret|refresh_token)"\s*:\s*"((?:[^"\\]|\\.)*)"/g,
    )) {
      if (quoted !== undefined) texts.add(quoted).add(quoted.replaceAll('\\n', '\n'));
    }
  }
  return [...texts].sort((one, other) => other.length - one.length);
}

/** What stands under a key, without which the Secret says nothing. */
export function required(data: SecretData, key: string): string {
  const value = data[key];
  if (value === undefined || value.trim() === '') throw invalid(`must have the key ${key}`);
  return value;
}

function invalid(fault: string): StoreError {
  return new StoreError('invalid', `the Secret with the store's credentials cannot be used: ${fault}`);
}
