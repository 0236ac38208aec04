/** Reads values.yaml of the chart with its comments, which describe the values. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isMap, isNode, isScalar, parseDocument, type YAMLMap } from 'yaml';
import { root } from '../run.ts';

export const CHART = 'charts/etcd-operator';

export interface DescribedValue {
  /** From the top, for example `image.tag`. */
  readonly path: string;
  /** One line; empty where there is no comment. */
  readonly description: string;
  readonly default: unknown;
  /** Its parts, where they have descriptions of their own; a value without is set as a whole. */
  readonly parts: readonly DescribedValue[];
}

/** The values in the order of the file. @throws Error when it is no YAML or no mapping */
export function describedValues(
  text = readFileSync(join(root, CHART, 'values.yaml'), 'utf8'),
): DescribedValue[] {
  const document = parseDocument(text);
  if (document.errors.length > 0) throw new Error(`values.yaml: ${document.errors.join(', ')}`);
  if (!isMap(document.contents)) throw new Error('values.yaml is no mapping');
  return partsOf(document.contents, '');
}

function partsOf(map: YAMLMap, prefix: string): DescribedValue[] {
  return map.items.map(({ key, value }, index): DescribedValue => {
    if (!isScalar(key)) throw new Error(`values.yaml: a key below "${prefix}" is no text`);
    const path = `${prefix}${String(key.value)}`;
    // What stands before the first key belongs to the mapping.
    const comment = key.commentBefore ?? (index === 0 ? map.commentBefore : undefined) ?? '';
    const parts = isMap(value) ? partsOf(value, `${path}.`) : [];
    return {
      path,
      // What a blank line separates from it is about the file.
      description: (comment.split(/\n\s*\n/).at(-1) ?? '').replace(/\s*\n\s*/g, ' ').trim(),
      default: isNode(value) ? value.toJSON() : undefined,
      parts: parts.some(({ description }) => description !== '') ? parts : [],
    };
  });
}
