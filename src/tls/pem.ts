/** Reads PEM as Go does, for etcd is written in it. What is said of text that cannot be read never contains any of it. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';

const LABEL = 'CERTIFICATE';

/** More than any bundle of authorities holds; a Secret of 1 MiB would take its time. */
const MOST_CERTIFICATES = 512;

interface Block {
  readonly label: string;
  readonly text: string;
}

/** Certificates in the order of the text; throws an Error with a reason that quotes nothing. */
export function parseCertificates(text: string): readonly X509Certificate[] {
  const blocks = blocksOf(text).filter(({ label }) => label === LABEL);
  // To Go they are not there, and neither is what stands between them.
  if (text.split('-----BEGIN ').length - 1 > begunIn(text))
    throw new Error('a "-----BEGIN" is not at the start of a line: write each block on separate lines');
  if (blocks.length === 0) throw new Error('it contains no PEM block "CERTIFICATE"');
  if (blocks.length > MOST_CERTIFICATES)
    throw new Error(`it contains ${blocks.length} certificates: keep at most ${MOST_CERTIFICATES}`);
  return blocks.map((block, index) => {
    try {
      return new X509Certificate(block.text);
    } catch {
      throw new Error(`its PEM block ${index + 1} is not a certificate`);
    }
  });
}

/** Whether there are blocks of anything else: etcd takes every block of a bundle of authorities for a certificate. */
export function holdsOtherBlocks(text: string): boolean {
  return blocksOf(text).some(({ label }) => !label.endsWith(LABEL));
}

const BEGIN = /^-----BEGIN ([^-]*)-----$/;

function begunIn(text: string): number {
  return linesOf(text).filter(line => BEGIN.test(line)).length;
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').map(line => line.trimEnd());
}

/** encoding/pem: a block begins and ends with lines of their own, and one without an end is passed over. */
function blocksOf(text: string): readonly Block[] {
  const blocks: Block[] = [];
  let label: string | undefined;
  let lines: string[] = [];
  for (const line of linesOf(text)) {
    const begun = BEGIN.exec(line)?.[1];
    if (begun !== undefined) [label, lines] = [begun, []];
    if (label === undefined) continue;
    lines.push(line);
    if (line !== `-----END ${label}-----`) continue;
    blocks.push({ label, text: lines.join('\n') });
    label = undefined;
  }
  return blocks;
}

/** A private key without a passphrase; throws an Error with a reason that quotes nothing. */
export function parseKey(text: string): KeyObject {
  if (/ENCRYPTED/.test(text)) throw new Error('the private key is encrypted, which etcd cannot read');
  try {
    return createPrivateKey(text);
  } catch {
    throw new Error('it contains no PEM private key');
  }
}
