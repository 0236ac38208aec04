/** Azure's Shared Key signature (Blob service, version 2015-02-21 and later). Pure. */
import { createHmac } from 'node:crypto';

export interface AzureAccount {
  readonly name: string;
  /** The account's key, base64 as Azure shows it. */
  readonly key: string;
}

/** Headers that are part of what is signed, in Azure's order; `content-length` of nothing counts as empty. */
const SIGNED = [
  'content-encoding',
  'content-language',
  'content-length',
  'content-md5',
  'content-type',
  'date',
  'if-modified-since',
  'if-match',
  'if-none-match',
  'if-unmodified-since',
  'range',
];

/** The value of the Authorization header. `headers` by lower-case name. */
export function signAzure(
  account: AzureAccount,
  request: {
    readonly method: string;
    readonly url: URL;
    readonly headers: Readonly<Record<string, string>>;
  },
): string {
  const { method, url, headers } = request;
  const standard = SIGNED.map(name =>
    name === 'content-length' && headers[name] === '0' ? '' : (headers[name] ?? ''),
  );
  const own = Object.keys(headers)
    .filter(name => name.startsWith('x-ms-'))
    .sort()
    .map(name => `${name}:${headers[name]?.trim()}`);
  const parameters = [...url.searchParams].map(([name, value]) => `${name.toLowerCase()}:${value}`).sort();
  const resource = [`/${account.name}${url.pathname}`, ...parameters].join('\n');
  const text = [method, ...standard, ...own, resource].join('\n');
  const signature = createHmac('sha256', Buffer.from(account.key, 'base64'))
    .update(text, 'utf8')
    .digest('base64');
  return `SharedKey ${account.name}:${signature}`;
}
