/** A program at a terminal of its own, what a person sees there, and what they type. */
import { type ChildProcess, spawn } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import { poll } from '../poll.ts';

export const INTERRUPT = '\u0003';
export const END_OF_INPUT = '\u0004';

export class Terminal {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number>;
  #screen = '';
  #read = 0;

  constructor(command: string, env: NodeJS.ProcessEnv, cwd: string) {
    // `script` of util-linux gives the command a terminal, and ends with the exit code of the command.
    const args = ['--quiet', '--return', '--flush', '--command', command, '/dev/null'];
    this.#child = spawn('script', args, { env, cwd, stdio: ['pipe', 'pipe', 'inherit'] });
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => void (this.#screen += text));
    this.#ended = new Promise((resolve, reject) => {
      this.#child.once('error', reject);
      this.#child.once('close', code => resolve(code ?? 1));
    });
    // What waits for the end is notified.
    this.#ended.catch(() => undefined);
  }

  /**
   * Waits until this is seen below what was seen at the last time, and gives what matched.
   * @throws Error with what there is instead
   */
  async sees(awaited: RegExp, timeoutMs = 30_000): Promise<RegExpExecArray> {
    const rest = (): string => stripVTControlCharacters(this.#screen).slice(this.#read);
    const found = await poll(async () => awaited.exec(rest()) ?? undefined, {
      timeoutMs,
      otherwise: () => `${awaited} is not seen, but: ${rest()}`,
    });
    this.#read += found.index + found[0].length;
    return found;
  }

  types(text: string): void {
    this.#child.stdin?.write(text);
  }

  /** Types a line, and gives what is printed until the prompt comes again. */
  async line(line: string, prompt: RegExp): Promise<string> {
    this.types(`${line}\n`);
    // What is typed is shown first.
    return (await this.sees(new RegExp(`(.*?)${prompt.source}`, 's')))[1] ?? '';
  }

  /** The exit code of the command, once it has ended. */
  ended(): Promise<number> {
    return this.#ended;
  }

  /** Ends the command if it still runs: its terminal is gone. */
  close(): void {
    this.#child.kill('SIGKILL');
  }
}
