/** Writes deploy/crd/ from the schemas in src/api. Run by `npm run generate`; `npm run check` compares. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { stringify } from 'yaml';
import { customResourceDefinitions } from '../src/api/schemas/crd.ts';

const FOLDER = 'deploy/crd';
const HEADER =
  '# Generated from src/api by scripts/generate-crds.ts. Do not edit: change the schema and run `npm run generate`.\n';

/** The generated files: path from the root of the checkout to content. The same input gives the same bytes. */
export function generateCrds(): Map<string, string> {
  const files = new Map<string, string>();
  for (const definition of customResourceDefinitions()) {
    const yaml = stringify(definition, { lineWidth: 0, aliasDuplicateObjects: false });
    files.set(`${FOLDER}/${definition.spec.names.plural}.yaml`, HEADER + yaml);
  }
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [...files.keys()].map(path => path.slice(FOLDER.length + 1)),
  };
  files.set(`${FOLDER}/kustomization.yaml`, HEADER + stringify(kustomization));
  return files;
}

/** Writes the files below `root`, the folder of the checkout. */
export function writeCrds(root: string): void {
  for (const [path, content] of generateCrds()) {
    const file = join(root, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  writeCrds(dirname(dirname(fileURLToPath(import.meta.url))));
}
