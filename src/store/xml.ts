/** The little XML that stores answer: flat elements, no attributes of interest, no nesting of one name in itself. */

import { atMostObjects, MOST_OBJECTS } from './at-most.ts';

/** Of Unicode. */
const LAST_CHARACTER = 0x10_ff_ff;
const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** The inner text of every element of that name, as it stands. Throws when there are more than any store gives at once. */
export function elements(xml: string, name: string): string[] {
  return atMostObjects([...elementsOf(xml, name)]);
}

/** Looked for from one place to the next: an expression would read the rest again for every beginning that has no end. */
function* elementsOf(xml: string, name: string): Generator<string> {
  const end = `</${name}>`;
  let found = 0;
  for (let from = startOf(xml, name, 0); from !== undefined && found <= MOST_OBJECTS; found += 1) {
    const to = xml.indexOf(end, from);
    if (to === -1) return;
    yield xml.slice(from, to);
    from = startOf(xml, name, to + end.length);
  }
}

/** Where the inner text of the next element begins; undefined when there is none. An empty element has no inner text. */
function startOf(xml: string, name: string, from: number): number | undefined {
  const start = `<${name}`;
  for (let at = xml.indexOf(start, from); at !== -1; at = xml.indexOf(start, at)) {
    at += start.length;
    const next = xml.charAt(at);
    if (next !== '>' && !/\s/.test(next)) continue;
    const close = xml.indexOf('>', at);
    if (close === -1) return undefined;
    if (xml.charAt(close - 1) !== '/') return close + 1;
    at = close;
  }
  return undefined;
}

/** The text of the first element of that name, decoded; undefined when there is none. Empty elements are empty texts. */
export function textOf(xml: string, name: string): string | undefined {
  const { value: inner } = elementsOf(xml, name).next();
  if (inner === undefined) return new RegExp(`<${name}\\s*/>`).test(xml) ? '' : undefined;
  return unescapeXml(inner);
}

/** What an answer says that is a store's error in XML; empty texts for anything else. */
export function errorIn(xml: string): { readonly code: string; readonly message: string } {
  if (!/^\uFEFF?\s*(<\?xml[^>]*\?>\s*)?<Error[\s>]/.test(xml)) return { code: '', message: '' };
  return { code: textOf(xml, 'Code') ?? '', message: textOf(xml, 'Message') ?? '' };
}

/** Text with its entities resolved; those that are not known stay as they are. */
function unescapeXml(text: string): string {
  return text.replace(/&(#?\w+);/g, (whole: string, name: string) => {
    const code = /^#\d+$/.test(name)
      ? Number(name.slice(1))
      : /^#x[0-9a-f]+$/i.test(name)
        ? Number.parseInt(name.slice(2), 16)
        : undefined;
    if (code === undefined) return ENTITIES[name] ?? whole;
    return code <= LAST_CHARACTER ? String.fromCodePoint(code) : whole;
  });
}

/** Text as it may stand between tags and in attributes. */
export function escapeXml(text: string): string {
  return text.replace(/[<>&"']/g, character => {
    const name = Object.keys(ENTITIES).find(entity => ENTITIES[entity] === character);
    return `&${name};`;
  });
}
