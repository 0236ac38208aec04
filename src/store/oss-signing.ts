/** Alibaba OSS's signatures: V4, and V1 for endpoints that do not name their region, which V4 needs. Pure. */
import { createHash, createHmac } from 'node:crypto';
import { encode, encodePath } from './names.ts';

export interface OssKeys {
  readonly accessKeyId: string;
  readonly accessKeySecret: string;
  /** Of temporary credentials. */
  readonly securityToken?: string | undefined;
}

export interface OssRequest {
  readonly method: string;
  readonly bucket: string;
  /** Empty for requests about the bucket. */
  readonly key: string;
  readonly query: Readonly<Record<string, string | undefined>>;
  /** By lower-case name, without those that signing adds. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Parameters that name a part of what is asked for, and so are signed by V1. */
const SUBRESOURCES = new Set(['uploads', 'uploadId', 'partNumber', 'continuation-token']);

/** The headers to add for V1 (`OSS key:signature`). */
export function signOssV1(keys: OssKeys, request: OssRequest, now: Date): Readonly<Record<string, string>> {
  const date = now.toUTCString();
  const added = { 'x-oss-date': date, ...tokenOf(keys) };
  const headers: Readonly<Record<string, string>> = { ...request.headers, ...added };
  const own = ossHeaders(headers).map(name => `${name}:${headers[name]}\n`);
  const subresources = entriesOf(request.query)
    .filter(([name]) => SUBRESOURCES.has(name))
    .map(([name, value]) => (value === '' ? name : `${name}=${value}`));
  const resource = `/${request.bucket}/${request.key}${subresources.length > 0 ? `?${subresources.join('&')}` : ''}`;
  const text = [
    request.method,
    headers['content-md5'] ?? '',
    headers['content-type'] ?? '',
    date,
    `${own.join('')}${resource}`,
  ].join('\n');
  const signature = createHmac('sha1', keys.accessKeySecret).update(text, 'utf8').digest('base64');
  return { ...added, authorization: `OSS ${keys.accessKeyId}:${signature}` };
}

/** The headers to add for V4 (`OSS4-HMAC-SHA256`), with the payload not signed. */
export function signOssV4(
  keys: OssKeys,
  request: OssRequest,
  { now, region }: { readonly now: Date; readonly region: string },
): Readonly<Record<string, string>> {
  const time = `${now.toISOString().replace(/[-:]|\.\d+/g, '')}`;
  const day = time.slice(0, 8);
  const added = {
    'x-oss-date': time,
    'x-oss-content-sha256': 'UNSIGNED-PAYLOAD',
    ...tokenOf(keys),
  };
  const headers: Readonly<Record<string, string>> = { ...request.headers, ...added };
  const signed = ['content-md5', 'content-type'].filter(name => name in headers).concat(ossHeaders(headers));
  const canonical = [
    request.method,
    encodePath(`/${request.bucket}/${request.key}`),
    entriesOf(request.query)
      .map(([name, value]) => (value === '' ? encode(name) : `${encode(name)}=${encode(value)}`))
      .join('&'),
    ...signed.map(name => `${name}:${headers[name]?.trim()}`),
    '',
    '',
    'UNSIGNED-PAYLOAD',
  ].join('\n');
  const scope = `${day}/${region}/oss/aliyun_v4_request`;
  const digest = createHash('sha256').update(canonical).digest('hex');
  const text = ['OSS4-HMAC-SHA256', time, scope, digest].join('\n');
  const signingKey = [day, region, 'oss', 'aliyun_v4_request'].reduce<string | Buffer>(
    (key, part) => createHmac('sha256', key).update(part).digest(),
    `aliyun_v4${keys.accessKeySecret}`,
  );
  const signature = createHmac('sha256', signingKey).update(text).digest('hex');
  return {
    ...added,
    authorization: `OSS4-HMAC-SHA256 Credential=${keys.accessKeyId}/${scope},Signature=${signature}`,
  };
}

function tokenOf(keys: OssKeys): Readonly<Record<string, string>> {
  return keys.securityToken === undefined ? {} : { 'x-oss-security-token': keys.securityToken };
}

function ossHeaders(headers: Readonly<Record<string, string>>): string[] {
  return Object.keys(headers)
    .filter(name => name.startsWith('x-oss-'))
    .sort();
}

function entriesOf(query: OssRequest['query']): [string, string][] {
  return Object.entries(query)
    .filter((entry): entry is [string, string] => entry[1] !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1));
}
