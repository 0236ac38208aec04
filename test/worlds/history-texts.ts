/** Everything that is said in an answer of Temporal: what is in payloads, and what is beside them. */
import type { Payload } from '@temporalio/common';

interface Found {
  readonly metadata: Readonly<Record<string, string>>;
  /** As latin1, so that any text can be searched for. */
  readonly data: string;
}

interface Everything {
  /** Search attributes aside, which no codec encrypts, and the names of patches, which Temporal's library writes past it. */
  readonly payloads: readonly Found[];
  readonly raw: readonly Payload[];
  /** All other texts, bytes included. */
  readonly others: readonly string[];
}

/** Of any message of Temporal's API, however deep. */
export function everythingOf(value: unknown): Everything {
  const [raw, others]: [Payload[], string[]] = [[], []];
  const visit = (at: unknown): void => {
    if (typeof at === 'string') others.push(at);
    else if (at instanceof Uint8Array) others.push(text(at));
    else if (isPayload(at)) raw.push(at);
    else if (typeof at === 'object' && at !== null)
      for (const [name, each] of Object.entries(at)) if (name !== 'searchAttributes') visit(each);
  };
  visit(value);
  return { raw, others, payloads: raw.map(found).filter(each => !isPatch(each)) };
}

function isPayload(at: unknown): at is Payload {
  return typeof at === 'object' && at !== null && 'metadata' in at && 'data' in at;
}

function found({ metadata, data }: Payload): Found {
  const entries = Object.entries(metadata ?? {}).map(([name, value]) => [name, text(value)] as const);
  return { metadata: Object.fromEntries(entries), data: text(data) };
}

/** What the marker of `patched()` has: nothing but the name that stands in the code. */
function isPatch({ data }: Found): boolean {
  return /^\{"id":"[a-z-]+","deprecated":(true|false)\}$/.test(data);
}

function text(bytes: Uint8Array | null | undefined): string {
  return Buffer.from(bytes ?? []).toString('latin1');
}
