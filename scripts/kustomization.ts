/** Renders a kustomization as `kubectl kustomize` does, as far as those in deploy/ go. */
import { readFileSync, statSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { root } from './run.ts';

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

interface Loaded {
  readonly objects: readonly Manifest[];
  /** Every file that was read, relative to the checkout. */
  readonly files: readonly string[];
}

interface Kustomization {
  readonly resources: readonly string[];
  readonly namespace?: string;
  /** For the objects themselves, not for what they select or make. */
  readonly labels?: readonly { readonly pairs: Readonly<Record<string, string>> }[];
  /** Each file is a key, by its name without folders. */
  readonly configMapGenerator?: readonly { readonly name: string; readonly files: readonly string[] }[];
  readonly generatorOptions?: {
    readonly disableNameSuffixHash: true;
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly patches?: readonly {
    readonly target: { readonly kind: string };
    /** Either `$patch: delete` or JSON patches that add. */
    readonly patch: string;
  }[];
  readonly replacements?: readonly {
    readonly source: { readonly kind: string; readonly name: string; readonly fieldPath: string };
    readonly targets: readonly {
      readonly select: { readonly kind: string };
      readonly fieldPaths: readonly string[];
    }[];
  }[];
}

/** All that this reader knows; a kustomization with another field would be rendered wrong. */
const KNOWN = [
  'apiVersion',
  'kind',
  'resources',
  'namespace',
  'labels',
  'configMapGenerator',
  'generatorOptions',
  'patches',
  'replacements',
];

const clusterScoped = ['Namespace', 'ClusterRole', 'ClusterRoleBinding', 'CustomResourceDefinition'];

function documents(file: string): unknown[] {
  return parseAllDocuments(readFileSync(file, 'utf8')).map(document => {
    if (document.errors.length > 0) throw new Error(`${file}: ${document.errors.join(', ')}`);
    return document.toJS() as unknown;
  });
}

/**
 * Loads a folder's kustomization with everything below it.
 * @param folder relative to the checkout
 * @throws when it uses what this reader does not know
 */
export function loadKustomization(folder: string): Loaded {
  const file = join(root, folder, 'kustomization.yaml');
  const [kustomization] = documents(file) as Kustomization[];
  if (kustomization === undefined) throw new Error(`${file} is empty`);
  const unknown = Object.keys(kustomization).filter(field => !KNOWN.includes(field));
  if (unknown.length > 0) throw new Error(`${file}: this reader does not know ${unknown.join(', ')}`);
  const parts = kustomization.resources.map(resource => {
    const path = join(root, folder, resource);
    if (statSync(path).isDirectory()) return loadKustomization(relative(root, path));
    return { objects: documents(path) as Manifest[], files: [relative(root, path)] };
  });
  parts.push(generated(folder, kustomization));
  const objects = patched(
    parts.flatMap(part => part.objects),
    kustomization,
  ).map(object => transformed(object, kustomization));
  return {
    files: [relative(root, file), ...parts.flatMap(part => part.files)],
    objects: replaced(objects, kustomization),
  };
}

function generated(folder: string, { configMapGenerator = [], generatorOptions }: Kustomization): Loaded {
  const files = configMapGenerator.flatMap(map => map.files.map(file => join(folder, file)));
  const objects = configMapGenerator.map(
    (map): Manifest => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: map.name, labels: generatorOptions?.labels ?? {} },
      data: Object.fromEntries(
        map.files.map(file => [basename(file), readFileSync(join(root, folder, file), 'utf8')]),
      ),
    }),
  );
  return { objects, files };
}

function transformed(object: Manifest, { namespace, labels = [] }: Kustomization): Manifest {
  const added = Object.assign({}, ...labels.map(({ pairs }) => pairs)) as Record<string, string>;
  const isPlaced = namespace !== undefined && !clusterScoped.includes(object.kind);
  return {
    ...object,
    metadata: {
      ...object.metadata,
      ...(isPlaced ? { namespace } : {}),
      ...(labels.length > 0 ? { labels: { ...object.metadata.labels, ...added } } : {}),
    },
  };
}

function patched(objects: readonly Manifest[], { patches = [] }: Kustomization): Manifest[] {
  let left = structuredClone([...objects]);
  for (const { target, patch } of patches) {
    const change: unknown = parse(patch);
    const isTarget = ({ kind }: Manifest): boolean => kind === target.kind;
    if (!left.some(isTarget)) throw new Error(`a patch finds no ${target.kind}`);
    if (at(change, '$patch') === 'delete') left = left.filter(object => !isTarget(object));
    else
      for (const { op, path, value } of change as { op: string; path: string; value: unknown }[]) {
        const fields = path.split('/').slice(1, -1);
        if (op !== 'add' || !path.endsWith('/-')) throw new Error(`this reader does not ${op} at ${path}`);
        for (const object of left.filter(isTarget)) (listAt(object, ...fields) as unknown[]).push(value);
      }
  }
  return left;
}

function replaced(objects: readonly Manifest[], { replacements = [] }: Kustomization): Manifest[] {
  const changed = structuredClone([...objects]);
  for (const { source, targets } of replacements) {
    const from = changed.find(({ kind, metadata }) => kind === source.kind && metadata.name === source.name);
    const value = at(from, ...source.fieldPath.split('.'));
    for (const { select, fieldPaths } of targets) {
      for (const object of changed.filter(({ kind }) => kind === select.kind)) {
        for (const path of fieldPaths) {
          const fields = path.split('.');
          const holder = at(object, ...fields.slice(0, -1)) as Record<string, unknown>;
          holder[fields.at(-1) ?? ''] = value;
        }
      }
    }
  }
  return changed;
}

/** The value at a path of field names and indexes; undefined where there is none. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let here = value;
  for (const step of path) {
    here =
      typeof here === 'object' && here !== null
        ? (here as Record<string | number, unknown>)[step]
        : undefined;
  }
  return here;
}

/** The list at a path; empty where there is none. */
export function listAt(value: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}
