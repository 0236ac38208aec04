/** A process of `kubectl etcd`, without the process: its terminal and its clock are those of the test. */
import type { ExitCode } from '../../src/plugin/exit-codes.ts';
import type { Captured, Said } from '../../src/plugin/io.ts';
import { run } from '../../src/plugin/run.ts';

export interface Ran {
  readonly code: ExitCode;
  readonly out: string;
  readonly err: string;
}

export interface Person {
  /** What is typed at each question until the input ends; absent: there is no terminal. */
  readonly answers?: readonly string[];
  readonly isTerminal?: boolean;
  /** The programs that there are. */
  readonly execute?: (line: readonly string[], until: AbortSignal) => Promise<number>;
  readonly capture?: (line: readonly string[], options?: { readonly timeoutMs: number }) => Promise<Captured>;
  readonly beside?: (
    line: readonly string[],
    awaited: { sign: RegExp; until: AbortSignal },
  ) => Promise<Said | Captured>;
  readonly env?: Readonly<Record<string, string>>;
  /** Called at each wait; true interrupts. */
  readonly onPause?: (count: number) => boolean | void | Promise<boolean | void>;
  /** By how much each wait moves the clock, in milliseconds. */
  readonly pauseMs?: number;
}

const NOW = Date.parse('2026-11-23T12:00:00Z');

/** Runs `kubectl etcd` with this command line, and this kubeconfig unless it names another one. */
export async function runPlugin(line: string, kubeconfig: string, person: Person = {}): Promise<Ran> {
  const { answers, isTerminal = false, env = {}, onPause, pauseMs, execute, capture, beside } = person;
  const interrupt = new AbortController();
  const questions = [...(answers ?? [])];
  const written = { out: '', err: '' };
  let [now, pauses] = [NOW, 0];
  const argv = line.split(' ').filter(word => word !== '');
  const where = argv.includes('--kubeconfig') ? [] : ['--kubeconfig', kubeconfig];
  // Before `--`, after which everything is passed on; completion is about the last word.
  const end = argv.indexOf('--');
  const code = await run(end === -1 ? [...argv, ...where] : argv.toSpliced(end, 0, ...where), {
    out: text => void (written.out += text),
    err: text => void (written.err += text),
    isTerminal,
    canAsk: answers !== undefined,
    ask: async question => {
      written.err += question;
      return questions.shift();
    },
    execute: (program, args, until) => execute?.([program, ...args], until) ?? Promise.resolve(127),
    capture: async (program, args, options) =>
      (await capture?.([program, ...args], options)) ?? {
        code: 127,
        out: '',
        err: `${program} is not on PATH`,
      },
    beside: async (program, args, awaited) =>
      (await beside?.([program, ...args], awaited)) ?? {
        code: 127,
        out: '',
        err: `${program} is not on PATH`,
      },
    env,
    now: () => now,
    pause: async milliseconds => {
      now += pauseMs ?? milliseconds;
      if ((await onPause?.((pauses += 1))) === true) interrupt.abort();
    },
    interrupted: interrupt.signal,
  });
  return { code, ...written };
}
