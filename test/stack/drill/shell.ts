/** A shell as a person has it who reads the documentation: in one namespace, with the tools that its pages name. */
import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ensureToolchain } from '../../../local/toolchain/index.ts';
import type { World } from '../e2e.ts';
import { Terminal } from './terminal.ts';

const execute = promisify(execFile);
/** Of which etcd the tools are: `etcdctl` and `etcdutl` of the minor that the drills' clusters run. */
const ETCD_TOOLS = 'etcdctl@3.6.16';
const CHECKOUT = fileURLToPath(new URL('../../../', import.meta.url));

export class Shell {
  readonly #environment: Promise<NodeJS.ProcessEnv>;

  constructor(world: World, namespace: string) {
    this.#environment = environmentOf(world, namespace);
  }

  /**
   * Types commands into a new shell, in the folder of the checkout, and gives what they printed; what they leave in the background
   * is ended.
   * @param variables of the environment, besides those that lead to the stack
   * @throws when one of them fails, with what was printed
   */
  async run(commands: string, variables: Readonly<Record<string, string>> = {}): Promise<string> {
    const env = { ...(await this.#environment), ...variables };
    const script = `set -eu -o pipefail\ntrap 'kill $(jobs -p) 2> /dev/null || true' EXIT\n${commands}`;
    // Without its files: a bash whose input is a socket takes itself for a remote one, and reads what belongs to its user.
    const { stdout, stderr } = await execute('bash', ['--norc', '-c', script], { env, cwd: CHECKOUT });
    return stdout + stderr;
  }

  /** Runs a command at a terminal, where it can ask and be answered. The caller closes it. */
  async terminal(command: string): Promise<Terminal> {
    return new Terminal(command, await this.#environment, CHECKOUT);
  }
}

async function environmentOf({ stack }: World, namespace: string): Promise<NodeJS.ProcessEnv> {
  const kubeconfig = join(mkdtempSync(join(tmpdir(), 'shell-')), 'kubeconfig');
  await copyFile(stack.kubeconfig, kubeconfig);
  const tools = ['kubectl', 'temporal', ETCD_TOOLS] as const;
  const helm = (await ensureToolchain({ only: ['helm'] })).path('helm');
  const folders = [...tools.map(tool => stack.toolchain.path(tool)), helm].map(tool => dirname(tool));
  const env = {
    ...process.env,
    KUBECONFIG: kubeconfig,
    TEMPORAL_ADDRESS: stack.temporalAddress,
    PATH: [...folders, join(CHECKOUT, 'bin'), process.env['PATH'] ?? ''].join(delimiter),
  };
  await execute('kubectl', ['config', 'set-context', '--current', `--namespace=${namespace}`], { env });
  return env;
}
