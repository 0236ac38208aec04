#!/usr/bin/env node
/** The program behind `kubectl etcd`. */
import { createInterface } from 'node:readline/promises';
import { setTimeout as wait } from 'node:timers/promises';
import type { Io } from './io.ts';
import { beside, capture, execute } from './programs.ts';
import { run } from './run.ts';

const EXIT_INTERRUPTED = 130;
const interrupt = new AbortController();
// What waits says what it leaves behind, and ends; a call to the API server may take longer than a person waits.
process.once('SIGINT', () => {
  interrupt.abort();
  setTimeout(() => process.exit(EXIT_INTERRUPTED), 500).unref();
});
// What reads the output may end first, such as `head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

/** What was typed, the last line first: the arrow keys bring it back. */
const typed: string[] = [];

const io: Io = {
  out: text => void process.stdout.write(text),
  err: text => void process.stderr.write(text),
  isTerminal: process.stdout.isTTY === true,
  canAsk: process.stdin.isTTY === true,
  async ask(question) {
    const terminal = createInterface({
      input: process.stdin,
      output: process.stderr,
      history: [...typed],
    });
    try {
      const answer = await terminal.question(question, { signal: interrupt.signal });
      if (answer !== '') typed.unshift(answer);
      return answer;
    } catch {
      return undefined;
    } finally {
      terminal.close();
    }
  },
  execute,
  capture,
  beside,
  env: process.env,
  now: Date.now,
  pause: milliseconds => wait(milliseconds, undefined, { signal: interrupt.signal }).catch(() => undefined),
  interrupted: interrupt.signal,
};

// Not awaited at the top: a single executable takes no module that waits.
void run(process.argv.slice(2), io).then(code => void (process.exitCode = code));
