/** A bill of materials in the form of CycloneDX 1.6. */
import type { Package } from './packages.ts';

export interface Product {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  /** Names of npm packages that it uses directly. */
  readonly dependencies: readonly string[];
  /** Of the Node in the image. */
  readonly node: string;
}

/** The document. It has neither a time nor a serial number: the same image has the same one. */
export function cycloneDx(product: Product, packages: readonly Package[]): object {
  const own = purl('npm', product.name, product.version);
  const runtime = `pkg:generic/node@${product.node}`;
  const direct = packages.filter(
    ({ ecosystem, name, path }) =>
      ecosystem === 'npm' && path === `node_modules/${name}` && product.dependencies.includes(name),
  );
  const crates = packages.filter(({ ecosystem }) => ecosystem === 'cargo').map(({ path }) => path);
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': own,
        name: product.name,
        version: product.version,
        licenses: licenses(product.license),
        purl: own,
      },
    },
    components: [
      {
        type: 'platform',
        'bom-ref': runtime,
        name: 'node',
        version: product.node,
        licenses: licenses('MIT'),
        purl: runtime,
      },
      ...packages.map(component),
    ],
    dependencies: [
      { ref: own, dependsOn: [runtime, ...direct.map(({ path }) => path)] },
      ...packages.map(({ path, name, needs }) => ({
        ref: path,
        dependsOn: name === '@temporalio/core-bridge' ? [...needs, ...crates] : needs,
      })),
    ],
  };
}

function component({ path, ecosystem, name, version, license, hash }: Package): object {
  const [, group, short] = /^(@[^/]+)\/(.+)$/.exec(name) ?? [];
  return {
    type: 'library',
    // Two copies of one package are two components.
    'bom-ref': path,
    ...(group === undefined ? { name } : { group, name: short }),
    version,
    ...(hash === undefined ? {} : { hashes: [{ alg: hash[0], content: hash[1] }] }),
    ...(license === undefined ? {} : { licenses: licenses(license) }),
    purl: purl(ecosystem, name, version),
  };
}

/** An identifier, an expression, or words. */
function licenses(license: string): object[] {
  if (license.startsWith('SEE ')) return [{ license: { name: license } }];
  if (/ (AND|OR|WITH) /.test(license)) return [{ expression: license }];
  return [{ license: { id: license } }];
}

function purl(ecosystem: Package['ecosystem'], name: string, version: string): string {
  return `pkg:${ecosystem}/${name.replace('@', '%40')}@${version}`;
}
