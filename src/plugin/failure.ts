import { EXIT, type ExitCode } from './exit-codes.ts';

/** An end of a command that is no success: `message` says what is wrong, `advice` what to do, one line each. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly exit: ExitCode;
  readonly advice: readonly string[];

  constructor(exit: ExitCode, message: string, advice: readonly string[] = []) {
    super(message);
    this.exit = exit;
    this.advice = advice;
  }
}

/** The command line is wrong. */
export function usageFailure(message: string, ...advice: readonly string[]): Failure {
  return new Failure(EXIT.usage, message, advice);
}

/** What was to be shown or done cannot be. */
export function failure(message: string, ...advice: readonly string[]): Failure {
  return new Failure(EXIT.error, message, advice);
}
