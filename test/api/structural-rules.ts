/** What the API server demands of a CRD's schema, and what we demand besides, as a list of complaints. */
import type { StructuralSchema } from '../../src/api/schemas/structural.schema.ts';

const FORBIDDEN = [
  '$ref',
  '$schema',
  '$defs',
  'definitions',
  'id',
  'const',
  'anyOf',
  'allOf',
  'oneOf',
  'not',
  'patternProperties',
  'propertyNames',
  'exclusiveMinimum',
  'exclusiveMaximum',
];

const INT_OR_STRING = 'x-kubernetes-int-or-string';
const PRESERVE = 'x-kubernetes-preserve-unknown-fields';

/** Every node below `schema`, itself first, with its path: `.spec.pod.etcdEnv[].name`. */
export function nodesOf(schema: StructuralSchema, path = ''): [path: string, node: StructuralSchema][] {
  return [
    [path, schema],
    ...Object.entries(schema.properties ?? {}).flatMap(([key, node]) => nodesOf(node, `${path}.${key}`)),
    ...(schema.items === undefined ? [] : nodesOf(schema.items, `${path}[]`)),
    ...(schema.additionalProperties === undefined ? [] : nodesOf(schema.additionalProperties, `${path}{}`)),
  ];
}

/** Complaints about one node: kubernetes.io, "Specifying a structural schema". */
export function structuralFaults(path: string, node: StructuralSchema): string[] {
  const faults: string[] = [];
  const complain = (is: boolean, what: string): void => void (is && faults.push(`${path}: ${what}`));
  const mayHaveNone = node[INT_OR_STRING] === true || node[PRESERVE] === true;
  complain(node.type === undefined && !mayHaveNone, 'has no type');
  complain(node.type !== undefined && node[INT_OR_STRING] === true, 'has a type beside int-or-string');
  for (const keyword of FORBIDDEN) complain(keyword in node, `has ${keyword}`);
  complain(node.additionalProperties !== undefined && node.properties !== undefined, 'mixes map and object');
  complain(node.type === 'array' && node.items === undefined, 'does not say what is in the list');
  complain(
    node.type === 'object' &&
      !node.properties &&
      !node.additionalProperties &&
      node[PRESERVE] !== true &&
      !isEmptyByChoice(path),
    'keeps nothing of what is written into it',
  );
  for (const key of node.required ?? []) {
    complain(node.properties?.[key] === undefined, `requires ${key}, which it does not have`);
    complain('default' in (node.properties?.[key] ?? {}), `requires ${key}, which has a default`);
  }
  return faults;
}

/** metadata is the API server's own; TLS.auto is written `{}`. */
function isEmptyByChoice(path: string): boolean {
  return path === '.metadata' || path.endsWith('.TLS.auto');
}

/** Complaints about missing bounds: the cost of a CEL rule is estimated from them, and etcd stores what is not bounded. */
export function boundFaults(path: string, node: StructuralSchema): string[] {
  const bounded = node['maxLength'] !== undefined || node['enum'] !== undefined;
  const faults: string[] = [];
  if ((node.type === 'string' || node[INT_OR_STRING] === true) && !bounded && !isOpen(path)) {
    faults.push(`${path}: text without maxLength`);
  }
  if (node.type === 'array' && node['maxItems'] === undefined) faults.push(`${path}: list without maxItems`);
  if (node.additionalProperties !== undefined && node['maxProperties'] === undefined) {
    faults.push(`${path}: map without maxProperties`);
  }
  return faults;
}

/** Written by the API server, or by the operator from a list of its own. */
function isOpen(path: string): boolean {
  return ['.apiVersion', '.kind'].includes(path) || path.startsWith('.status.');
}

/** Why `value` is not of `schema`; as much of validation as defaults need. */
export function valueFaults(schema: StructuralSchema, value: unknown): string[] {
  const json = JSON.stringify(value);
  const type = typeof value === 'number' ? (Number.isInteger(value) ? 'integer' : 'number') : typeof value;
  if (schema[INT_OR_STRING] === true)
    return ['integer', 'string'].includes(type) ? [] : [`${json} is ${type}`];
  if (schema.type !== type) return [`${json} is ${type}, not ${schema.type}`];
  const faults: string[] = [];
  const allowed = schema['enum'] as unknown[] | undefined;
  if (allowed !== undefined && !allowed.includes(value)) faults.push(`${json} is none of ${allowed.join()}`);
  if (typeof value === 'number') {
    if (value < Number(schema['minimum'] ?? value)) faults.push(`${json} is below the minimum`);
    if (value > Number(schema['maximum'] ?? value)) faults.push(`${json} is above the maximum`);
  }
  if (typeof value === 'string' && value.length > Number(schema['maxLength'] ?? value.length)) {
    faults.push(`${json} is too long`);
  }
  if (typeof value === 'object' && value !== null) {
    for (const key of schema.required ?? []) if (!(key in value)) faults.push(`${json} lacks ${key}`);
  }
  return faults;
}
