/** Runs kubectl for what is done through it: exec, port-forward and logs. */
import { execFile, spawn } from 'node:child_process';
import type { Io } from './io.ts';

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

export const capture: Io['capture'] = (program, args) =>
  new Promise(resolve => {
    execFile(program, args, { maxBuffer: MOST_BYTES, timeout: CAPTURE_MS }, (error, out, err) => {
      if (error === null) return resolve({ code: 0, out, err });
      const isMissing = error.code === 'ENOENT';
      const code = isMissing ? NO_PROGRAM : typeof error.code === 'number' ? error.code : 1;
      resolve({ code, out, err: isMissing ? `${program} is not on PATH` : err || error.message });
    });
  });
