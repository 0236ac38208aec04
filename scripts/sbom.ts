/**
 * Prints what is in the operator's image: a bill of materials (CycloneDX), or with --licenses a table of licenses and packages.
 * Usage: scripts/sbom.ts [--arch amd64|arm64] [--licenses]
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from './run.ts';
import { cycloneDx, type Product } from './sbom/cyclonedx.ts';
import { type Architecture, crates, npmPackages, type Package } from './sbom/packages.ts';

const ARCHITECTURES: Readonly<Record<string, Architecture>> = { amd64: 'x64', arm64: 'arm64' };

function product(): Product {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly name: string;
    readonly version: string;
    readonly license: string;
    readonly dependencies: Readonly<Record<string, string>>;
  };
  // The image that is built without docker has the Node that runs this; the Dockerfile takes the newest of the same major.
  return { ...manifest, dependencies: Object.keys(manifest.dependencies), node: process.versions.node };
}

/** One line for each license: how many packages, and which. */
export function licenseTable(packages: readonly Package[]): string {
  const named = Map.groupBy(packages, ({ ecosystem, license }) =>
    ecosystem === 'cargo' ? 'not in Cargo.lock' : (license ?? 'unknown'),
  );
  const lines = [...named].map(([license, of]) => {
    const names = [...new Set(of.map(({ name }) => name))];
    return `${license} (${of.length}): ${names.join(', ')}`;
  });
  return `${lines.sort().join('\n')}\n`;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { arch: { type: 'string', default: 'amd64' }, licenses: { type: 'boolean', default: false } },
  });
  const architecture = ARCHITECTURES[values.arch];
  if (architecture === undefined) {
    console.error(`--arch: there is no ${values.arch}; there are ${Object.keys(ARCHITECTURES).join(', ')}`);
    process.exit(2);
  }
  const packages = [...npmPackages(root, architecture), ...crates(root)];
  process.stdout.write(
    values.licenses
      ? licenseTable(packages)
      : `${JSON.stringify(cycloneDx(product(), packages), undefined, 2)}\n`,
  );
}
