/** The little XML that stores answer: flat elements, no attributes of interest, no nesting of one name in itself. */

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** The inner text of every element of that name, as it stands. */
export function elements(xml: string, name: string): string[] {
  const pattern = new RegExp(`<${name}(?:\\s[^>]*[^/>]|\\s*)>([\\s\\S]*?)</${name}>`, 'g');
  return [...xml.matchAll(pattern)].map(([, inner]) => inner ?? '');
}

/** The text of the first element of that name, decoded; undefined when there is none. Empty elements are empty texts. */
export function textOf(xml: string, name: string): string | undefined {
  const [inner] = elements(xml, name);
  if (inner === undefined) return new RegExp(`<${name}\\s*/>`).test(xml) ? '' : undefined;
  return unescapeXml(inner);
}

/** What an answer says that is a store's error in XML; empty texts for anything else. */
export function errorIn(xml: string): { readonly code: string; readonly message: string } {
  if (!/^\uFEFF?\s*(<\?xml[^>]*\?>\s*)?<Error[\s>]/.test(xml)) return { code: '', message: '' };
  return { code: textOf(xml, 'Code') ?? '', message: textOf(xml, 'Message') ?? '' };
}

/** Text with its entities resolved; those that are not known stay as they are. */
export function unescapeXml(text: string): string {
  return text.replace(/&(#?\w+);/g, (whole: string, name: string) => {
    if (/^#\d+$/.test(name)) return String.fromCodePoint(Number(name.slice(1)));
    if (/^#x[0-9a-f]+$/i.test(name)) return String.fromCodePoint(Number.parseInt(name.slice(2), 16));
    return ENTITIES[name] ?? whole;
  });
}

/** Text as it may stand between tags and in attributes. */
export function escapeXml(text: string): string {
  return text.replace(/[<>&"']/g, character => {
    const name = Object.keys(ENTITIES).find(entity => ENTITIES[entity] === character);
    return `&${name};`;
  });
}
