/** The API key for Temporal, as a file or a variable of the environment holds it. Pure. */

/** What stands in a header as it is: printable ASCII without spaces. gRPC refuses the rest with an error that quotes it. */
const IN_A_HEADER = /^[\x21-\x7e]+$/;

/**
 * The key that a text holds; blanks and line breaks around it are left out.
 * @returns the key, or what is wrong with the text without a word of it; undefined for a blank text
 */
export function apiKeyIn(text: string): { readonly key: string } | { readonly fault: string } | undefined {
  const key = text.trim();
  if (key === '') return undefined;
  if (/[\r\n]/.test(key)) return { fault: 'has several lines' };
  return IN_A_HEADER.test(key)
    ? { key }
    : { fault: 'has characters other than printable ASCII without spaces' };
}
