/** Names of buckets and keys, and how they are written into URLs. */
import { StoreError } from './port.ts';

/**
 * The two halves of a path of the API, `bucket/key`. Throws `invalid` for what is not such a path, and for keys that a URL
 * would change.
 */
export function splitPath(path: string): { readonly bucket: string; readonly key: string } {
  const slash = path.indexOf('/');
  const [bucket, key] = [path.slice(0, slash), path.slice(slash + 1)];
  if (slash < 1 || key === '') {
    throw new StoreError('invalid', `the path "${path}" must be bucket/key, such as backups/etcd/example`);
  }
  checkKey(key);
  return { bucket, key };
}

/** Refuses keys that have `.` or `..` as a part: URLs resolve these. */
function checkKey(key: string): void {
  if (!key.split('/').some(part => part === '.' || part === '..')) return;
  throw new StoreError('invalid', `the key "${key}" must not have . or .. as a part`);
}

/** Percent-encoding of everything but letters, digits, `-._~` (RFC 3986), which is what signatures are made of. */
export function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** As `encode`, with slashes as they are. */
export function encodePath(path: string): string {
  return path.split('/').map(encode).join('/');
}

/**
 * An endpoint of the API as a URL without slash at its end; without scheme it is https.
 * @param fallback where the endpoint is empty
 */
export function endpointUrl(endpoint: string | undefined, fallback: string): URL {
  const text = endpoint === undefined || endpoint === '' ? fallback : endpoint;
  const full = /^https?:\/\//.test(text) ? text : `https://${text}`;
  if (!URL.canParse(full))
    throw new StoreError(
      'invalid',
      `the endpoint "${text}" is not a valid address, for example https://host`,
    );
  const url = new URL(full);
  // The location of a store is shown to users, and is part of errors.
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    const host = `${url.protocol}//${url.host}${url.pathname}`;
    throw new StoreError(
      'invalid',
      `the endpoint contains more than ${host}: write only that, and put credentials into a Secret`,
    );
  }
  url.pathname = url.pathname.replace(/\/+$/, '');
  return url;
}

/** A URL below a base; the path and the query are encoded already. */
export function below(base: URL, path: string, query = ''): URL {
  const url = new URL(base);
  url.pathname = `${base.pathname.replace(/\/$/, '')}${path}`;
  url.search = query;
  return url;
}

/** A query with sorted names and encoded values; a name whose value is empty stands alone. */
export function queryOf(parameters: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(parameters)
    .filter((entry): entry is [string, string] => entry[1] !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => (value === '' ? encode(name) : `${encode(name)}=${encode(value)}`))
    .join('&');
}
