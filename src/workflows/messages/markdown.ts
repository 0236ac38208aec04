/** Texts of other people in the markdown of the Temporal UI. */

/**
 * A text on one line that stays what it is: those who look after all namespaces read it, and whoever writes a resource, or the log of
 * a member, is not to show them images from elsewhere, or links that are called something else.
 */
export function plain(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[[\]<]/g, '\\$&');
}

/** The same in a table. */
export function plainCell(text: string): string {
  return plain(text).replaceAll('|', '\\|');
}
