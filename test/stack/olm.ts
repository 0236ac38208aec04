/**
 * The Operator Lifecycle Manager for a stack: its two operators and the server of a catalog run on this machine, as they are built from its
 * module; what they install runs in the stack.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ensureToolchain } from '../../local/toolchain/index.ts';
import { generateOlm } from '../../scripts/generate-olm.ts';
import { clusterServiceVersion, PACKAGE } from '../../scripts/olm/cluster-service-version.ts';
import { freePort } from './free-ports.ts';
import { end, launch } from './temporal-process.ts';
import type { World } from './e2e.ts';

const run = promisify(execFile);
/** Where OLM looks for catalogs that are for every namespace. */
export const CATALOG = { name: 'etcd-operators', namespace: 'olm' } as const;
export const CHANNEL = 'stable';

interface Csv {
  readonly name: string;
  readonly annotations: Readonly<Record<string, string>>;
}

export interface Olm {
  /** Makes a catalog whose only bundle is that of this version; what it answers serves it, and no longer the one before. */
  prepare(version: string): Promise<() => Promise<void>>;
  /** Creates or changes an object of any kind. */
  apply(object: object): Promise<void>;
  /** The end of what all of its programs printed. */
  log(): Promise<string>;
  /** Ends its programs. What they installed stays. */
  stop(): Promise<void>;
}

/** Installs OLM's own CRDs in the stack and starts it. @throws Error when a program does not come up */
export async function startOlm({ stack }: World): Promise<Olm> {
  const tools = await ensureToolchain({ only: ['olm-operator', 'catalog-operator', 'opm'] });
  const folder = await mkdtemp(join(tmpdir(), 'olm-'));
  const log = join(folder, 'log');
  const env = { KUBECONFIG: stack.kubeconfig, HOME: folder, TMPDIR: folder };
  const port = await freePort();
  const apply = async (object: object): Promise<void> => {
    const file = join(await mkdtemp(join(folder, 'object-')), 'object.json');
    await writeFile(file, JSON.stringify(object));
    await stack.kubectl('apply', '--server-side', '-f', file);
  };
  await stack.kubectl('apply', '--server-side', '-f', tools.path('olm-crds'));
  await stack.kubectl('wait', '--for=condition=Established', '--timeout=60s', '-f', tools.path('olm-crds'));
  await apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: CATALOG.namespace } });
  const arguments_ = ['--namespace', CATALOG.namespace];
  // Both would serve their health at the same port of this machine, and say so when they cannot; nobody asks.
  const operators = await Promise.all(
    (['olm-operator', 'catalog-operator'] as const).map(name =>
      launch({ command: tools.path(name), args: arguments_, env, log }, async () => undefined),
    ),
  );
  let catalog: Awaited<ReturnType<typeof launch>> | undefined;
  const endCatalog = async () => {
    if (catalog !== undefined) await end(catalog, 'SIGTERM');
  };
  return {
    prepare: async version => {
      const served = await writeCatalog(tools.path('opm'), await mkdtemp(join(folder, 'catalog-')), version);
      return async () => {
        await endCatalog();
        const args = ['serve', served, '--port', `${port}`, '--pprof-addr', `127.0.0.1:${await freePort()}`];
        args.push('--termination-log', join(folder, 'termination'));
        catalog = await launch({ command: tools.path('opm'), args, env, log }, () => accepts(port));
        await apply({
          apiVersion: 'operators.coreos.com/v1alpha1',
          kind: 'CatalogSource',
          metadata: CATALOG,
          spec: { sourceType: 'grpc', address: `127.0.0.1:${port}`, displayName: 'etcd' },
        });
      };
    },
    apply,
    log: async () => (await readFile(log, 'utf8')).slice(-6_000),
    stop: async () => {
      await Promise.all([endCatalog(), ...operators.map(child => end(child, 'SIGTERM'))]);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * A catalog with the content of the bundle in it: a bundle that is named by its image is fetched by a pod, with programs of OLM's own images.
 * @throws Error when opm does not accept the bundle or the catalog
 */
async function writeCatalog(opm: string, folder: string, version: string): Promise<string> {
  for (const [path, content] of generateOlm(version)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  const output = { maxBuffer: 64 * 1024 * 1024 };
  const { stdout: bundle } = await run(opm, ['render', join(folder, 'bundle'), '--output', 'json'], output);
  const { metadata } = clusterServiceVersion(version) as { readonly metadata: Csv };
  const entry = { name: metadata.name, skipRange: metadata.annotations['olm.skipRange'] };
  const parts = [
    { schema: 'olm.package', name: PACKAGE, defaultChannel: CHANNEL },
    { schema: 'olm.channel', package: PACKAGE, name: CHANNEL, entries: [entry] },
  ];
  const catalog = join(folder, 'catalog');
  await mkdir(catalog);
  await writeFile(
    join(catalog, 'catalog.json'),
    [...parts.map(part => JSON.stringify(part)), bundle].join('\n'),
  );
  await run(opm, ['validate', catalog]);
  return catalog;
}

/** Resolves when something listens at a port of this machine. */
function accepts(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve();
    });
    socket.once('error', reject);
  });
}
