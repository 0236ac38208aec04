/** The API key for Temporal, which each request carries as `authorization: Bearer KEY`. */
import { apiKeyIn } from '../../api/values/api-key.ts';
import { readCredentialFile } from './credential-file.ts';

/** More than any token that a proxy takes in a header. */
const MOST_BYTES = 16_384;

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
  const found = apiKeyIn(content.toString('utf8'));
  if (found === undefined) return refuse('is empty');
  return 'key' in found ? found.key : refuse(found.fault);
}
