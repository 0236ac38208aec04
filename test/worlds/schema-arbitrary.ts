/** Values that an OpenAPI schema of a CRD lets through, however odd: what CEL rules and patterns refuse is among them. */
import * as fc from 'fast-check';
import type { StructuralSchema } from '../../src/api/schemas/structural.schema.ts';

/** What users write, paste and mistype. */
const ODD_TEXTS = [
  '',
  ' ',
  '\u0000',
  '\n',
  '..',
  '../../etc/passwd',
  '/',
  'a//b',
  'http://',
  'ftp://example',
  'https://[::1',
  'http://a:99999999',
  'Europe/Berlinn',
  'Europe/Paris',
  'UTC',
  '__proto__',
  'constructor',
  'a'.repeat(64),
  '💥',
  '-1',
  '1e999',
  'NaN',
  '@daily',
  '@never',
  '30 2 * * *',
  '0 0 30 2 *',
  '* * * * * *',
  `${'9'.repeat(28)}h`,
  '8Gi',
  '-8Gi',
  '8 Gi',
  '1h30m',
  'v3.6.16',
  '3.5.35',
  '99.99.99',
  '3.6',
  'Latest',
  '2026-11-21T12:00:00Z',
  '2026-99-99T99:99:99Z',
  'ETCD_NAME',
  'ETCD_QUOTA_BACKEND_BYTES',
  '01:30',
  'example',
];

const INT_BOUNDS = {
  int32: [-(2 ** 31), 2 ** 31 - 1],
  int64: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
} as const;

/** Values of this schema. */
export function ofSchema(schema: StructuralSchema): fc.Arbitrary<unknown> {
  if (schema['x-kubernetes-int-or-string'] === true)
    return fc.oneof(integers({ format: 'int64' }), texts(schema));
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as unknown[]));
  switch (schema.type) {
    case 'object':
      return objects(schema);
    case 'array':
      return fc.array(ofSchema(schema.items ?? {}), {
        maxLength: Math.min(3, Number(schema['maxItems'] ?? 3)),
      });
    case 'boolean':
      return fc.boolean();
    case 'integer':
      return integers(schema);
    case 'string':
      return texts(schema);
    default:
      return fc.jsonValue();
  }
}

function objects(schema: StructuralSchema): fc.Arbitrary<unknown> {
  const { properties = {}, additionalProperties, required = [] } = schema;
  const fields = Object.fromEntries(Object.entries(properties).map(([name, of]) => [name, ofSchema(of)]));
  const known = fc.record(fields, { requiredKeys: required });
  const key = fc.constantFrom('app', 'team', 'a/b', 'etcd_node', '-', 'x.y/z', '', 'constructor');
  const more =
    additionalProperties !== undefined
      ? fc.dictionary(key, ofSchema(additionalProperties), { maxKeys: 2 })
      : schema['x-kubernetes-preserve-unknown-fields'] === true
        ? fc.dictionary(key, fc.jsonValue(), { maxKeys: 2 })
        : fc.constant({});
  return fc.tuple(more, known).map(([others, own]) => ({ ...others, ...own }));
}

function texts(schema: StructuralSchema): fc.Arbitrary<string> {
  const maxLength = Number(schema['maxLength'] ?? 256);
  const minLength = Number(schema['minLength'] ?? 0);
  const fits = (text: string): boolean => text.length <= maxLength && text.length >= minLength;
  return fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...ODD_TEXTS.filter(fits)) },
    { weight: 1, arbitrary: fc.string({ minLength, maxLength: Math.min(maxLength, 32), unit: 'grapheme' }) },
  );
}

function integers(schema: Pick<StructuralSchema, string>): fc.Arbitrary<number> {
  const [low, high] = INT_BOUNDS[schema['format'] === 'int32' ? 'int32' : 'int64'];
  const min = Number(schema['minimum'] ?? low);
  const max = Number(schema['maximum'] ?? high);
  const small = [-1, 0, 1, 3, 60].filter(value => value >= min && value <= max);
  return fc.oneof(fc.constantFrom(min, max, ...small), fc.integer({ min, max }));
}
