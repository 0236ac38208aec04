/** The API key for Temporal, which each request carries as `authorization: Bearer KEY`. */
import { readCredentialFile } from './credential-file.ts';

/** More than any token that a proxy takes in a header. */
const MOST_BYTES = 16_384;
/**
 * What stands in a header as it is: printable ASCII without spaces. gRPC refuses the rest with an error that quotes it.
 */
const IN_A_HEADER = /^[\x21-\x7e]+$/;

/**
 * The key that a file holds; blanks and line breaks around it are left out.
 * @throws an error that names the file and nothing of what it holds
 */
export function readApiKey(file: string): string {
  const content = readCredentialFile(file);
  const refuse = (why: string): never => {
    throw new Error(`${file} ${why}: write the API key for Temporal to it, and nothing else`);
  };
  if (content.length > MOST_BYTES) return refuse(`has more than ${MOST_BYTES} bytes`);
  const key = content.toString('utf8').trim();
  if (key === '') return refuse('is empty');
  if (/[\r\n]/.test(key)) return refuse('has several lines');
  if (!IN_A_HEADER.test(key)) return refuse('has characters other than printable ASCII without spaces');
  return key;
}
