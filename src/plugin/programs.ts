/** Runs kubectl for what is done through it: exec, port-forward and logs. */
import { execFile, spawn } from 'node:child_process';
import type { Captured, Io } from './io.ts';

/** As a shell answers. */
const NO_PROGRAM = 127;
/** A log of some thousand lines. */
const MOST_BYTES = 64 * 1024 * 1024;
const CAPTURE_MS = 60_000;

export const execute: Io['execute'] = (program, args, until) =>
  new Promise(resolve => {
    if (until.aborted) return resolve(0);
    const child = spawn(program, args, { stdio: 'inherit' });
    const stop = (): void => void child.kill('SIGTERM');
    until.addEventListener('abort', stop, { once: true });
    const ended = (code: number): void => {
      until.removeEventListener('abort', stop);
      resolve(code);
    };
    child.once('error', () => ended(NO_PROGRAM));
    child.once('close', code => ended(code ?? 1));
  });

export const capture: Io['capture'] = (program, args, { timeoutMs } = { timeoutMs: CAPTURE_MS }) =>
  new Promise(resolve => {
    // Killed outright: what does not end in time may not listen either.
    const options = { maxBuffer: MOST_BYTES, timeout: timeoutMs, killSignal: 'SIGKILL' } as const;
    execFile(program, args, options, (error, out, err) => {
      if (error === null) return resolve({ code: 0, out, err });
      if (error.killed === true && error.code === null)
        return resolve({ code: 1, out, err: `it took longer than ${timeoutMs / 1_000} s`, timedOut: true });
      const isMissing = error.code === 'ENOENT';
      const code = isMissing ? NO_PROGRAM : typeof error.code === 'number' ? error.code : 1;
      resolve({ code, out, err: isMissing ? `${program} is not on PATH` : err || error.message });
    });
  });

/** How long a program may take until it says its sign. */
const SIGN_MS = 20_000;

export const beside: Io['beside'] = (program, args, { sign, until }) =>
  new Promise(resolve => {
    if (until.aborted) return resolve({ code: 1, out: '', err: 'interrupted' });
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let [out, err] = ['', ''];
    const stop = (): void => void child.kill('SIGTERM');
    const impatience = setTimeout(() => {
      err += `it was not ready within ${SIGN_MS / 1_000} s`;
      stop();
    }, SIGN_MS);
    until.addEventListener('abort', stop, { once: true });
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      const found = sign.exec(out);
      if (found === null) return;
      // Whatever else it says is of no use, and would fill the memory.
      child.stdout.removeAllListeners('data').resume();
      clearTimeout(impatience);
      resolve({ sign: found });
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => void (err = `${err}${text}`.slice(-4_096)));
    const ended = (answer: Captured): void => {
      clearTimeout(impatience);
      until.removeEventListener('abort', stop);
      resolve(answer);
    };
    child.once('error', () => ended({ code: NO_PROGRAM, out: '', err: `${program} is not on PATH` }));
    child.once('close', code => ended({ code: code ?? 1, out, err }));
  });
