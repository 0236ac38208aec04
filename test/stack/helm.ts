/** Helm, with files of its own and not those of the user who runs the tests. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { ensureToolchain } from '../../local/toolchain/index.ts';
import { root } from '../../scripts/run.ts';
import type { Manifest } from '../deploy/manifests.ts';

const run = promisify(execFile);

export const CHART = join(root, 'charts/etcd-operator');

/** What an installation cannot do without. */
export const TEMPORAL = ['--set', 'temporal.address=temporal-frontend.temporal.svc:7233'] as const;

export interface Helm {
  /** The standard output of a command. @throws Error with everything that it printed when it fails */
  run(...args: readonly string[]): Promise<string>;
  /** What a command that must fail printed. @throws Error when it succeeds */
  refusal(...args: readonly string[]): Promise<string>;
  /** The objects of `helm template`. */
  render(release: string, namespace: string, ...args: readonly string[]): Promise<readonly Manifest[]>;
  /** Removes its files. */
  close(): Promise<void>;
}

/** @param kubeconfig of the server for commands that need one */
export async function startHelm(kubeconfig = '/nonexistent'): Promise<Helm> {
  const helm = (await ensureToolchain({ only: ['helm'] })).path('helm');
  const folder = await mkdtemp(join(tmpdir(), 'helm-'));
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    KUBECONFIG: kubeconfig,
    HELM_CACHE_HOME: join(folder, 'cache'),
    HELM_CONFIG_HOME: join(folder, 'config'),
    HELM_DATA_HOME: join(folder, 'data'),
  };
  const command = async (...args: readonly string[]): Promise<string> =>
    (await run(helm, args, { env, maxBuffer: 64 * 1024 * 1024 })).stdout;
  return {
    run: command,
    refusal: async (...args) => {
      const printed = await command(...args).catch((error: { stderr?: string; stdout?: string }) => ({
        text: `${error.stdout ?? ''}${error.stderr ?? ''}`,
      }));
      if (typeof printed === 'string') throw new Error(`helm ${args.join(' ')} succeeded: ${printed}`);
      return printed.text;
    },
    render: async (release, namespace, ...args) =>
      objectsOf(await command('template', release, CHART, '--namespace', namespace, ...args)),
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

/** The objects of a text of several YAML documents. @throws Error when one of them is no YAML */
export function objectsOf(text: string): readonly Manifest[] {
  return parseAllDocuments(text)
    .map(document => {
      if (document.errors.length > 0) throw new Error(document.errors.join(', '));
      return document.toJS() as Manifest | null;
    })
    .filter(object => object !== null);
}
