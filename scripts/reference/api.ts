/** docs/reference/api.md: every field of the custom resources, from the definitions that the API server is given. */
import { customResourceDefinitions, type CustomResourceDefinition } from '../../src/api/schemas/crd.ts';
import type { StructuralSchema } from '../../src/api/schemas/structural.schema.ts';
import { code, heading, markdownTable } from './markdown.ts';

const INTRODUCTION = `
Fields that are marked **required** must be given within their parent. A default that is written here is filled in by the
API server; what is said to hold when a field is absent is decided by the operator each time that it looks.
`;

/** A field with its path from the top of the resource. */
interface Field {
  readonly path: string;
  readonly schema: StructuralSchema;
  readonly required: boolean;
}

export function apiReference(): string {
  return [heading('API', 'src/api'), INTRODUCTION, ...customResourceDefinitions().map(kindSection)].join(
    '\n',
  );
}

function kindSection({ spec }: CustomResourceDefinition): string {
  const [version] = spec.versions;
  const { openAPIV3Schema: schema } = version.schema;
  const { kind, plural } = spec.names;
  const parts = (['spec', 'status'] as const).flatMap(part => {
    const of = schema.properties?.[part];
    if (of === undefined) return [];
    const rules = rulesUnder({ path: part, schema: of, required: true });
    return [
      `### ${kind} ${part}\n`,
      ...(of.description === undefined ? [] : [`${of.description}\n`]),
      fieldTable(part, of),
      '',
      ...rules,
    ];
  });
  const columns = version.additionalPrinterColumns.map(({ name, description }) => `${name} (${description})`);
  return [
    `## ${kind}\n`,
    `\`${spec.group}/${version.name}\`, \`kubectl get ${plural}\`. Columns: ${columns.join(', ')}\n`,
    ...parts,
  ].join('\n');
}

function fieldTable(path: string, schema: StructuralSchema): string {
  const rows = fieldsUnder(path, schema).map(field => [
    code(field.path),
    typeOf(field.schema),
    [field.required ? '**required**' : '', defaultOf(field.schema)].filter(text => text !== '').join(' '),
    field.schema.description ?? '',
  ]);
  return markdownTable(['field', 'type', 'default', 'meaning'], rows);
}

/** All fields below, parents before their children, in the order of the schema. */
function fieldsUnder(path: string, schema: StructuralSchema): Field[] {
  const named = Object.entries(schema.properties ?? {}).flatMap(([name, child]) => {
    const field = {
      path: `${path}.${name}`,
      schema: child,
      required: schema.required?.includes(name) ?? false,
    };
    return [field, ...fieldsUnder(field.path, child)];
  });
  const items = schema.items === undefined ? [] : fieldsUnder(`${path}[]`, schema.items);
  const values = isSchema(schema.additionalProperties)
    ? fieldsUnder(`${path}.*`, schema.additionalProperties)
    : [];
  return [...named, ...items, ...values];
}

function isSchema(value: unknown): value is StructuralSchema {
  return typeof value === 'object' && value !== null;
}

function typeOf(schema: StructuralSchema): string {
  const { type, items } = schema;
  if (schema['x-kubernetes-int-or-string'] === true) return 'integer or string';
  if (type === 'array') return `list of ${items === undefined ? 'anything' : typeOf(items)}`;
  if (isSchema(schema.additionalProperties)) return `map of ${typeOf(schema.additionalProperties)}`;
  return [type ?? 'anything', limitsOf(schema)].filter(text => text !== '').join(', ');
}

function limitsOf(schema: StructuralSchema): string {
  const choices = schema['enum'];
  if (Array.isArray(choices)) return `one of ${choices.map(choice => code(String(choice))).join(' ')}`;
  const { minimum, maximum } = schema as { readonly minimum?: number; readonly maximum?: number };
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}`;
  if (minimum !== undefined) return `at least ${minimum}`;
  return maximum === undefined
    ? String(schema['format'] === 'date-time' ? 'a time' : '')
    : `at most ${maximum}`;
}

function defaultOf(schema: StructuralSchema): string {
  return schema.default === undefined ? '' : code(JSON.stringify(schema.default));
}

/** The CEL rules, in the words that users get when they break one. */
function rulesUnder(field: Field): string[] {
  const messages = [field, ...fieldsUnder(field.path, field.schema)].flatMap(({ path, schema }) => {
    const rules = (schema['x-kubernetes-validations'] ?? []) as readonly { readonly message?: string }[];
    return rules.flatMap(({ message }) => (message === undefined ? [] : [`- ${code(path)}: ${message}`]));
  });
  return messages.length === 0 ? [] : ['Rules beyond the types:\n', ...messages, ''];
}
