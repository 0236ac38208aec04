/** What terminals act upon, but for tabs and line breaks. */
const CONTROLS = /[^\P{Cc}\t\n]/gu;

/**
 * A text as it can be shown: without control characters. What strangers say (members, stores, containers, authors of resources)
 * goes into conditions and events, and older releases of kubectl print those as they are.
 */
export function printable(text: string): string {
  return text.replace(CONTROLS, '');
}
