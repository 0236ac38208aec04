/** What the console shows of fields: descriptors from the CRDs, one for each field at the top of spec and status. */
import type { CrdSchema } from './crds.ts';

export interface Descriptor {
  readonly path: string;
  readonly displayName: string;
  readonly description: string;
  readonly 'x-descriptors'?: readonly string[];
}

const UI = 'urn:alm:descriptor:com.tectonic.ui:';
const KUBERNETES = 'urn:alm:descriptor:io.kubernetes';

/** Fields of some meaning to the console, by name. */
const KNOWN: Readonly<Record<string, string>> = {
  conditions: `${KUBERNETES}.conditions`,
  phase: `${KUBERNETES}.phase`,
  reason: `${KUBERNETES}.phase:reason`,
  Reason: `${KUBERNETES}.phase:reason`,
  serviceName: `${KUBERNETES}:Service`,
  clientTLSSecret: `${KUBERNETES}:Secret`,
  authSecret: `${KUBERNETES}:Secret`,
};

/** By type, where the name says nothing; the console has controls for these. */
const TYPES: Readonly<Record<string, string>> = {
  boolean: `${UI}booleanSwitch`,
  integer: `${UI}number`,
  string: `${UI}text`,
};

/** @param part of the schema: its spec or its status */
export function descriptors(part: CrdSchema | undefined, isSpec: boolean): Descriptor[] {
  return Object.entries(part?.properties ?? {}).map(([path, field]): Descriptor => {
    const hint = KNOWN[path] ?? (isSpec ? TYPES[field.type ?? ''] : undefined);
    return {
      path,
      displayName: titleOf(path),
      description: firstSentence(field.description ?? ''),
      ...(hint === undefined ? {} : { 'x-descriptors': [hint] }),
    };
  });
}

/** `backupStorageType` as `Backup Storage Type`; abbreviations stay together. */
export function titleOf(name: string): string {
  const words = name.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2');
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

/** Up to a full stop that ends a sentence: not the one in a version or an abbreviation. */
export function firstSentence(text: string): string {
  return /^.*?[.?!](?=\s+[A-Z]|$)/s.exec(text)?.[0] ?? text;
}
