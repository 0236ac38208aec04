/** From a zod schema to the structural OpenAPI schema that a CustomResourceDefinition may hold. */
import * as z from 'zod';
import { OPEN_ENUM } from './parts.schema.ts';

/** A node of the OpenAPI schema of a CRD, as plain JSON. */
export type StructuralSchema = {
  type?: string;
  description?: string;
  properties?: Record<string, StructuralSchema>;
  items?: StructuralSchema;
  additionalProperties?: StructuralSchema;
  required?: string[];
  default?: unknown;
  [keyword: string]: unknown;
};

/**
 * The structural schema of what users write: fields with a default are not required.
 * zod writes a few idioms that a CRD refuses (kubernetes.io, "Specifying a structural schema"); they are put right here.
 */
export function structuralSchema(schema: z.ZodType): StructuralSchema {
  const json = z.toJSONSchema(schema, {
    target: 'openapi-3.0',
    io: 'input',
    reused: 'inline',
    unrepresentable: 'throw',
    override: context => {
      makeStructural(context.jsonSchema as StructuralSchema);
    },
  });
  delete json.$schema;
  const { '~standard': _, ...plain } = json as StructuralSchema;
  return plain;
}

function makeStructural(node: StructuralSchema): void {
  if (node['x-kubernetes-int-or-string'] === true) {
    delete node['anyOf'];
    delete node['oneOf'];
  }
  if (node['x-kubernetes-preserve-unknown-fields'] === true) delete node.additionalProperties;
  if (node[OPEN_ENUM] === true) {
    delete node['enum'];
    delete node[OPEN_ENUM];
  }
  // Only text can be the key of a JSON object.
  delete node['propertyNames'];
  if (node.type === 'integer') normalizeInteger(node);
  // The pattern that zod adds to a time says the same as the format, at a length that nobody reads.
  if (node['format'] === 'date-time') delete node['pattern'];
}

const INT32_MIN = -(2 ** 31);
const INT32_MAX = 2 ** 31 - 1;

/** Says the format by what the bounds allow, and leaves out the bounds that are the format's own. */
function normalizeInteger(node: StructuralSchema): void {
  const minimum = Number(node['minimum'] ?? Number.MIN_SAFE_INTEGER);
  const maximum = Number(node['maximum'] ?? Number.MAX_SAFE_INTEGER);
  node['format'] = minimum >= INT32_MIN && maximum <= INT32_MAX ? 'int32' : 'int64';
  if (minimum === INT32_MIN || minimum === Number.MIN_SAFE_INTEGER) delete node['minimum'];
  if (maximum === INT32_MAX || maximum === Number.MAX_SAFE_INTEGER) delete node['maximum'];
}
