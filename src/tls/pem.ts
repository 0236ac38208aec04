/** Reads PEM. What is said of text that cannot be read never contains any of it. */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/** Certificates in the order of the text; throws an Error with a reason that quotes nothing. */
export function parseCertificates(text: string): readonly X509Certificate[] {
  const blocks = text.match(CERTIFICATE) ?? [];
  if (blocks.length === 0) throw new Error('it holds no PEM block "CERTIFICATE"');
  return blocks.map((block, index) => {
    try {
      return new X509Certificate(block);
    } catch {
      throw new Error(`its PEM block ${index + 1} is not a certificate`);
    }
  });
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
