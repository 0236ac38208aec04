/** Reads PEM. What is said of text that cannot be read never contains any of it. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';

const [BEGIN, END] = ['-----BEGIN CERTIFICATE-----', '-----END CERTIFICATE-----'];

/** More than any bundle of authorities holds; a Secret of 1 MiB would take its time. */
const MOST_CERTIFICATES = 512;

/** Certificates in the order of the text; throws an Error with a reason that quotes nothing. */
export function parseCertificates(text: string): readonly X509Certificate[] {
  const blocks = blocksOf(text);
  if (blocks.length === 0) throw new Error('it holds no PEM block "CERTIFICATE"');
  if (blocks.length > MOST_CERTIFICATES)
    throw new Error(`it holds ${blocks.length} certificates: leave no more than ${MOST_CERTIFICATES}`);
  return blocks.map((block, index) => {
    try {
      return new X509Certificate(block);
    } catch {
      throw new Error(`its PEM block ${index + 1} is not a certificate`);
    }
  });
}

/** By steps that only go forward: a pattern would look for the end of each beginning anew. */
function blocksOf(text: string): readonly string[] {
  const blocks: string[] = [];
  for (let from = text.indexOf(BEGIN); from !== -1; ) {
    const end = text.indexOf(END, from + BEGIN.length);
    if (end === -1) break;
    blocks.push(text.slice(from, end + END.length));
    from = text.indexOf(BEGIN, end + END.length);
  }
  return blocks;
}

/** A private key without a passphrase; throws an Error with a reason that quotes nothing. */
export function parseKey(text: string): KeyObject {
  if (/ENCRYPTED/.test(text)) throw new Error('the private key is encrypted, which etcd cannot read');
  try {
    return createPrivateKey(text);
  } catch {
    throw new Error('it holds no PEM private key');
  }
}
