/**
 * What an apiserver fills in of our kinds: the defaults of the CRDs as they are in deploy/crd. It does so in every request that
 * writes the object, before it is stored, and drops nulls first (Kubernetes, "Defaulting" in "Extend the Kubernetes API with
 * CustomResourceDefinitions").
 */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { KubeObject } from '../../src/kube/port.ts';

interface Schema {
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly 'x-kubernetes-validations'?: readonly { readonly rule: string }[];
}

interface Definition {
  readonly spec: { readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[] };
}

const FILES: Readonly<Record<string, string>> = {
  EtcdCluster: 'etcdclusters',
  EtcdBackup: 'etcdbackups',
  EtcdRestore: 'etcdrestores',
};
const specs = new Map<string, Schema>();

function specOf(kind: string): Schema | undefined {
  const file = FILES[kind];
  if (file === undefined) return undefined;
  let schema = specs.get(kind);
  if (schema === undefined) {
    const text = readFileSync(new URL(`../../deploy/crd/${file}.yaml`, import.meta.url), 'utf8');
    const [version] = (parse(text) as Definition).spec.versions;
    schema = version?.schema.openAPIV3Schema.properties?.['spec'] ?? {};
    specs.set(kind, schema);
  }
  return schema;
}

/** The object with the defaults of its kind. */
export function withCrdDefaults(object: KubeObject): KubeObject {
  const schema = specOf(object.kind);
  return schema === undefined ? object : { ...object, spec: filled(schema, object['spec'] ?? {}) };
}

function filled(schema: Schema, value: unknown): unknown {
  if (Array.isArray(value))
    return schema.items === undefined ? value : value.map(item => filled(schema.items ?? {}, item));
  if (typeof value !== 'object' || value === null || schema.properties === undefined) return value;
  const given = Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null));
  for (const [name, field] of Object.entries(schema.properties)) {
    if (given[name] !== undefined) given[name] = filled(field, given[name]);
    else if (field.default !== undefined) given[name] = filled(field, structuredClone(field.default));
  }
  return given;
}
