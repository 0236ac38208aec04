/** The two things of a certificate that Node does not tell, read from its DER (RFC 5280, section 4.1). */
import type { X509Certificate } from 'node:crypto';

/** Where the content of the element at `at` begins. */
function contentAt(der: Buffer, at: number): number {
  const length = der[at + 1] ?? 0;
  return at + 2 + (length < 0x80 ? 0 : length & 0x7f);
}

/** It has no extensions that could say whether it is an authority. Certificate and TBSCertificate are sequences; from version 2 on [0] comes first. */
export function isVersion1({ raw }: X509Certificate): boolean {
  return raw[contentAt(raw, contentAt(raw, 0))] !== 0xa0;
}

/** The object identifier 2.5.29.19, basicConstraints. */
const BASIC_CONSTRAINTS = Buffer.from('0603551d13', 'hex');
const [BOOLEAN, INTEGER, OCTETS] = [0x01, 0x02, 0x04];

/** How many authorities may stand between this one and a leaf; undefined: as many as there are. */
export function pathLengthOf({ raw }: X509Certificate): number | undefined {
  const found = raw.indexOf(BASIC_CONSTRAINTS);
  if (found === -1) return undefined;
  const skipBoolean = (at: number): number => (raw[at] === BOOLEAN ? at + 3 : at);
  const octets = skipBoolean(found + BASIC_CONSTRAINTS.length);
  if (raw[octets] !== OCTETS) return undefined;
  const sequence = contentAt(raw, octets);
  const end = contentAt(raw, sequence) + (raw[sequence + 1] ?? 0);
  const at = skipBoolean(contentAt(raw, sequence));
  return at < end && raw[at] === INTEGER && raw[at + 1] === 1 ? raw[at + 2] : undefined;
}
