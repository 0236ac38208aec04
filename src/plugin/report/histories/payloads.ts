/** Histories as users read them: what is in payloads stands there as it is, and without secrets. Pure. */
import { isRecord } from '../../../api/values/is-record.ts';
import { cleanedTree, LEFT_OUT } from '../cleaned.ts';

/** What was found of payloads that are encrypted. */
export interface Encrypted {
  count: number;
  readonly keys: Set<string>;
}

/**
 * An answer of Temporal in its JSON form, with payloads decoded. What cannot be read is left out, and encrypted payloads are counted.
 * What was left out because it may be a secret is added to `secrets`, for texts that repeat it.
 */
export function readable(value: unknown, secrets: Set<string>, encrypted: Encrypted): unknown {
  return cleanedTree(opened(value, encrypted), secrets);
}

function opened(value: unknown, encrypted: Encrypted): unknown {
  if (Array.isArray(value)) return value.map(entry => opened(entry, encrypted));
  if (!isRecord(value)) return value;
  const metadata = value['metadata'];
  if (isRecord(metadata) && typeof metadata['encoding'] === 'string')
    return content(value, metadata, encrypted);
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, opened(entry, encrypted)]));
}

/** What a payload carries. The operator writes JSON, and whatever else is there is somebody else's. */
function content(
  { data }: Record<string, unknown>,
  metadata: Record<string, unknown>,
  encrypted: Encrypted,
): unknown {
  const encoding = textOf(metadata['encoding']);
  const bytes = Buffer.from(typeof data === 'string' ? data : '', 'base64');
  if (encoding === 'binary/null') return null;
  if (encoding === 'binary/encrypted') {
    const key = textOf(metadata['encryption-key-id']);
    encrypted.count += 1;
    if (key !== '') encrypted.keys.add(key);
    return `[encrypted, ${bytes.length} bytes]`;
  }
  if (encoding.startsWith('json/')) {
    try {
      return JSON.parse(bytes.toString('utf8'));
    } catch {
      // As below: what is no JSON is not known.
    }
  }
  return `${LEFT_OUT} ${bytes.length} bytes`;
}

const textOf = (base64: unknown): string =>
  typeof base64 === 'string' ? Buffer.from(base64, 'base64').toString('utf8') : '';
