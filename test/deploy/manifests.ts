/** Reads a kustomization the way kubectl does, as far as ours go: resources, a namespace, labels. */
import { readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { root } from '../../scripts/run.ts';

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

const clusterScoped = ['Namespace', 'ClusterRole', 'ClusterRoleBinding', 'CustomResourceDefinition'];

function documents(file: string): unknown[] {
  return parseAllDocuments(readFileSync(file, 'utf8')).map(document => {
    if (document.errors.length > 0) throw new Error(`${file}: ${document.errors.join(', ')}`);
    return document.toJS() as unknown;
  });
}

interface Loaded {
  readonly objects: readonly Manifest[];
  /** Every file that was read, relative to the checkout. */
  readonly files: readonly string[];
}

/** Loads a folder's kustomization with everything below it. */
export function loadKustomization(folder: string): Loaded {
  const file = join(root, folder, 'kustomization.yaml');
  const [kustomization] = documents(file) as { resources: string[]; namespace?: string; labels?: unknown }[];
  if (kustomization === undefined) throw new Error(`${file} is empty`);
  const parts = kustomization.resources.map(resource => {
    const path = join(root, folder, resource);
    if (statSync(path).isDirectory()) return loadKustomization(relative(root, path));
    return { objects: documents(path) as Manifest[], files: [relative(root, path)] };
  });
  const { namespace } = kustomization;
  return {
    files: [relative(root, file), ...parts.flatMap(part => part.files)],
    objects: parts
      .flatMap(part => part.objects)
      .map(object =>
        namespace === undefined || clusterScoped.includes(object.kind)
          ? object
          : { ...object, metadata: { namespace, ...object.metadata } },
      ),
  };
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
