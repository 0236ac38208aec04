import { styleText } from 'node:util';

/** Says what a running step is at (a package count, a file name); shown beside the step's name. */
export type Report = (detail: string) => void;

/** How work that takes more than a moment shows itself to the person who waits for it. */
export interface Progress {
  /** Runs `work` as a named step: shown while it runs, with its duration when it ends. Rethrows what `work` throws. */
  step<T>(name: string, work: (report: Report) => Promise<T>): Promise<T>;
  /** Announces steps that will come, so that the view can say how many are left. */
  expect(steps: number): void;
  /** One line that stays on the screen. */
  note(message: string): void;
  /** Ends the live view and the heartbeat. Steps after it still run and print plain lines. */
  close(): void;
}

/** The part of a terminal or a file that a progress view writes to. */
export interface ProgressStream {
  write(text: string): unknown;
  isTTY?: boolean;
  columns?: number;
}

export interface ProgressOptions {
  /** Default: standard error, so that a command's own output stays clean. */
  stream?: ProgressStream;
  /** Seconds between the lines that say what still runs, where there is no terminal. Default 20. */
  heartbeatSeconds?: number;
  /** Milliseconds since some fixed moment. Default: the process's monotonic clock. */
  now?: () => number;
}

interface RunningStep {
  name: string;
  detail: string;
  start: number;
}

/** A duration for users: `0.4 s`, `12 s`, `3 min 05 s`. `milliseconds` may be any non-negative number. */
export function formatDuration(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 120) return `${whole} s`;
  return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`;
}

/**
 * A progress view on a stream: on a terminal the running steps are redrawn in place; elsewhere every step
 * prints one line at its start and one at its end, and a heartbeat line says what still runs.
 */
export function createProgress(options: ProgressOptions = {}): Progress {
  const stream = options.stream ?? process.stderr;
  const view = new StepView(stream, options.now ?? (() => performance.now()));
  const live = stream.isTTY === true;
  const period = live ? 200 : (options.heartbeatSeconds ?? 20) * 1000;
  return new TimedProgress(live ? new LiveView(view) : new PlainView(view), view, period);
}

/** A view that shows nothing: for callers that want silence. */
export const silentProgress: Progress = {
  step: (_name, work) => work(() => {}),
  expect() {},
  note() {},
  close() {},
};

/** What is known about the steps, and how a line about one reads. */
class StepView {
  readonly running = new Set<RunningStep>();
  readonly stream: ProgressStream;
  readonly now: () => number;
  expected = 0;
  finished = 0;

  constructor(stream: ProgressStream, now: () => number) {
    this.stream = stream;
    this.now = now;
  }

  counter(): string {
    const total = Math.max(this.expected, this.finished + this.running.size);
    return `[${this.finished}/${total}]`;
  }

  describe(step: RunningStep): string {
    const elapsed = formatDuration(this.now() - step.start);
    return step.detail === '' ? `${step.name} (${elapsed})` : `${step.name} (${elapsed}): ${step.detail}`;
  }
}

interface Painter {
  started(step: RunningStep): void;
  ended(step: RunningStep, failure: boolean): void;
  note(message: string): void;
  tick(): void;
  close(): void;
}

class PlainView implements Painter {
  readonly #view: StepView;

  constructor(view: StepView) {
    this.#view = view;
  }

  started(step: RunningStep): void {
    this.note(`start   ${step.name}`);
  }

  ended(step: RunningStep, failure: boolean): void {
    const elapsed = formatDuration(this.#view.now() - step.start);
    this.note(`${failure ? 'FAILED ' : 'done   '} ${this.#view.counter()} ${step.name} in ${elapsed}`);
  }

  tick(): void {
    if (this.#view.running.size === 0) return;
    const steps = [...this.#view.running].map(step => this.#view.describe(step));
    this.note(`running ${this.#view.counter()} ${steps.join('; ')}`);
  }

  note(message: string): void {
    this.#view.stream.write(`${message}\n`);
  }

  close(): void {}
}

class LiveView implements Painter {
  readonly #view: StepView;
  #linesDrawn = 0;

  constructor(view: StepView) {
    this.#view = view;
  }

  started(): void {
    this.#draw();
  }

  ended(step: RunningStep, failure: boolean): void {
    const elapsed = formatDuration(this.#view.now() - step.start);
    const mark = failure ? styleText('red', '✗') : styleText('green', '✓');
    this.#draw(`${mark} ${step.name} ${styleText('dim', elapsed)}`);
  }

  note(message: string): void {
    this.#draw(message);
  }

  tick(): void {
    this.#draw();
  }

  close(): void {
    this.#draw();
    this.#linesDrawn = 0;
  }

  /** Replaces the lines drawn before by `message`, which stays, and one line for each running step. */
  #draw(message?: string): void {
    const { stream, running } = this.#view;
    // Zero is what a terminal of unknown width says.
    const width = Math.max(20, (stream.columns || 80) - 1);
    const lines = [...running].map(step =>
      `  ${this.#view.counter()} ${this.#view.describe(step)}`.slice(0, width),
    );
    const up = this.#linesDrawn > 0 ? `\x1b[${this.#linesDrawn}A` : '';
    const kept = message === undefined ? '' : `${message}\n`;
    stream.write(`${up}\r\x1b[J${kept}${lines.map(line => `${line}\n`).join('')}`);
    this.#linesDrawn = lines.length;
  }
}

class TimedProgress implements Progress {
  readonly #painter: Painter;
  readonly #view: StepView;
  readonly #period: number;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(painter: Painter, view: StepView, period: number) {
    this.#painter = painter;
    this.#view = view;
    this.#period = period;
  }

  expect(steps: number): void {
    this.#view.expected += steps;
  }

  note(message: string): void {
    this.#painter.note(message);
  }

  async step<T>(name: string, work: (report: Report) => Promise<T>): Promise<T> {
    const step: RunningStep = { name, detail: '', start: this.#view.now() };
    this.#begin(step);
    try {
      const result = await work(detail => {
        step.detail = detail;
      });
      this.#end(step, false);
      return result;
    } catch (error) {
      this.#end(step, true);
      throw error;
    }
  }

  close(): void {
    this.#closed = true;
    this.#stopTimer();
    this.#painter.close();
  }

  #begin(step: RunningStep): void {
    this.#view.running.add(step);
    this.#painter.started(step);
    if (this.#timer === undefined && !this.#closed) {
      this.#timer = setInterval(() => this.#painter.tick(), this.#period);
      this.#timer.unref();
    }
  }

  #end(step: RunningStep, failure: boolean): void {
    this.#view.running.delete(step);
    this.#view.finished += 1;
    this.#painter.ended(step, failure);
    if (this.#view.running.size === 0) this.#stopTimer();
  }

  #stopTimer(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
