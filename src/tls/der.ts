/** What Node does not expose of a certificate, read from its DER (RFC 5280, section 4.1). Throws a RangeError for what is cut off. */
import type { X509Certificate } from 'node:crypto';

interface Element {
  readonly tag: number;
  readonly content: Buffer;
}

/** The elements that stand one after the other. */
function elements(der: Buffer): readonly Element[] {
  const found: Element[] = [];
  for (let at = 0; at < der.length; ) {
    const short = der[at + 1] ?? 0;
    const more = short < 0x80 ? 0 : short & 0x7f;
    const from = at + 2 + more;
    const length = more === 0 ? short : der.readUIntBE(at + 2, more);
    if (from + length > der.length) throw new RangeError('an element is longer than what it is in');
    found.push({ tag: der[at] ?? 0, content: der.subarray(from, from + length) });
    at = from + length;
  }
  return found;
}

const [BOOLEAN, INTEGER, VERSION, EXTENSIONS] = [0x01, 0x02, 0xa0, 0xa3];
const EMPTY = Buffer.alloc(0);

function within(element: Element | undefined): readonly Element[] {
  return elements(element?.content ?? EMPTY);
}

function signedPart({ raw }: X509Certificate): readonly Element[] {
  const [certificate] = elements(raw);
  return within(within(certificate)[0]);
}

/** It has no extensions that could say whether it is an authority. */
export function isVersion1(certificate: X509Certificate): boolean {
  return signedPart(certificate)[0]?.tag !== VERSION;
}

/** What is within an extension of 2.5.29; undefined when the certificate has none of that number. */
function extensionOf(certificate: X509Certificate, number: number): readonly Element[] | undefined {
  const oid = Buffer.from([0x55, 0x1d, number]);
  const list = signedPart(certificate).find(({ tag }) => tag === EXTENSIONS);
  for (const extension of within(within(list)[0])) {
    const parts = within(extension);
    if (parts[0]?.content.equals(oid) === true) return within(within(parts.at(-1))[0]);
  }
  return undefined;
}

/** basicConstraints: how many authorities may stand between this one and a leaf; undefined: as many as there are. */
export function pathLengthOf(certificate: X509Certificate): number | undefined {
  const parts = extensionOf(certificate, 19)?.filter(({ tag }) => tag !== BOOLEAN) ?? [];
  const length = parts.find(({ tag }) => tag === INTEGER)?.content;
  return length === undefined ? undefined : length.readUIntBE(0, Math.min(length.length, 6));
}

export interface NameConstraints {
  /** DNS names of which one has to be, or be above, each name; empty: all are permitted. */
  readonly permitted: readonly string[];
  readonly excluded: readonly string[];
}

const DNS_NAME = 0x82;

/** nameConstraints, as far as they are about DNS names. */
export function nameConstraintsOf(certificate: X509Certificate): NameConstraints {
  const subtrees = extensionOf(certificate, 30) ?? [];
  const dnsNames = (list: number): readonly string[] =>
    within(subtrees.find(({ tag }) => tag === list))
      .flatMap(subtree => within(subtree).slice(0, 1))
      .filter(({ tag }) => tag === DNS_NAME)
      .map(({ content }) => content.toString('latin1'));
  return { permitted: dnsNames(0xa0), excluded: dnsNames(0xa1) };
}
