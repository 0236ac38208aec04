/** What a program has written. */
export interface Captured {
  /** Its exit code; 127 when there is no such program. */
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** It was ended because it took too long. */
  readonly timedOut?: boolean;
}

/** What a program that runs beside the command has said. */
export interface Said {
  readonly sign: RegExpExecArray;
}

/** Everything that a command needs of its process; tests give it another one. */
export interface Io {
  /** Writes to the standard output: what was asked for. */
  out(text: string): void;
  /** Writes to the standard error output: progress, questions and errors. */
  err(text: string): void;
  /** Whether the standard output is a terminal. */
  readonly isTerminal: boolean;
  /** Whether a person can be asked: the standard input is a terminal. */
  readonly canAsk: boolean;
  /** Asks a person, and answers what was typed, without the line break; undefined when the input has ended. */
  ask(question: string): Promise<string | undefined>;
  /** Runs a program on this terminal until it ends or `until` is aborted; answers its exit code, 127 when there is no such program. */
  execute(program: string, args: readonly string[], until: AbortSignal): Promise<number>;
  /** Runs a program to its end, or for a minute unless `timeoutMs` says otherwise, and answers what it has written. */
  capture(
    program: string,
    args: readonly string[],
    options?: { readonly timeoutMs: number },
  ): Promise<Captured>;
  /**
   * Runs a program that works beside the command until `until` is aborted. Answers once it has written what `sign` matches to its
   * standard output, or how it ended without that.
   */
  beside(
    program: string,
    args: readonly string[],
    awaited: { readonly sign: RegExp; readonly until: AbortSignal },
  ): Promise<Said | Captured>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Waits, or less when the command is interrupted. */
  pause(milliseconds: number): Promise<void>;
  /** Aborted when a person interrupts the command. */
  readonly interrupted: AbortSignal;
}
