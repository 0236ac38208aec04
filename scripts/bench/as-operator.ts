/** Has a task of `streaming.ts` done by a process that is set up as the operator's, or as its pod that lends a claim, is. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { STREAMING_ENV, STREAMING_FLAGS } from '../../src/objects/claim-store.ts';

const execute = promisify(execFile);
const TASKS = fileURLToPath(new URL('streaming.ts', import.meta.url));

/** What a task took. */
export interface Taken {
  readonly seconds: number;
  /** The most that its process had in memory, from its start on. */
  readonly peakMebibytes: number;
}

/** Does a task in a process of its own with the operator's options. The process's start is not measured. */
export async function asOperator(task: 'save' | 'bring', ...args: readonly string[]): Promise<Taken> {
  const { stdout } = await execute(process.execPath, [TASKS, task, ...args], {
    env: environment(operatorOptions()),
  });
  return JSON.parse(stdout) as Taken;
}

/** Serves a folder as the pod that lends a claim does; resolves to its port and to what ends it. */
export async function asClaimStore(...args: readonly string[]): Promise<{
  readonly port: number;
  readonly stop: () => void;
}> {
  const child: ChildProcess = spawn(process.execPath, [...STREAMING_FLAGS, TASKS, 'serve', ...args], {
    env: environment(STREAMING_ENV[0].value),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [said] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  return { port: Number(said.toString()), stop: () => void child.kill() };
}

function environment(options: string): NodeJS.ProcessEnv {
  return { ...process.env, NODE_OPTIONS: options };
}

interface Document {
  readonly spec?: {
    readonly template?: {
      readonly spec: {
        readonly containers: readonly {
          readonly env?: readonly { readonly name: string; readonly value?: string }[];
        }[];
      };
    };
  };
}

/** The NODE_OPTIONS of the Deployment. */
function operatorOptions(): string {
  const file = new URL('../../deploy/operator/deployment.yaml', import.meta.url);
  const documents = parseAllDocuments(readFileSync(file, 'utf8')).map(each => each.toJS() as Document);
  const containers = documents.flatMap(({ spec }) => spec?.template?.spec.containers ?? []);
  const options = containers
    .flatMap(({ env = [] }) => env)
    .find(({ name }) => name === 'NODE_OPTIONS')?.value;
  if (options === undefined) throw new Error('the Deployment of the operator has no NODE_OPTIONS');
  return options;
}
