/** One connection to the metrics port of a member, on which its health page is asked for again and again. */
import { connect, type Socket } from 'node:net';
import { type HealthAnswer, readHealthAnswer } from './health-answer.ts';

/**
 * How one request ended. `closed`: the connection ended before the answer did. `late`: no answer in time. `unable`: this process or its
 * host has no socket left, which says nothing about the member.
 */
export type Asked =
  | (HealthAnswer & { readonly state: 'complete' })
  | { readonly state: 'closed' | 'late' | 'unable' };

/** Errors of this side (connect(2), socket(2)). */
const OWN_ERRORS = new Set(['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL', 'EAGAIN']);

/** A timer that is later than this part of its time says that this process was held up, and may not even have sent what it asks. */
const HELD_UP = 0.2;

interface Pending {
  readonly settle: (asked: Asked) => void;
  timer: NodeJS.Timeout;
}

export class HealthConnection {
  /** On the clock of `performance.now()`. */
  readonly openedAt = performance.now();
  readonly #socket: Socket;
  readonly #request: string;
  #text = '';
  #pending: Pending | undefined;
  #isOpen = true;
  #error: string | undefined;

  /** @param onIdleEnd called when the connection ends between two requests, and it was not `close` that ended it */
  constructor({ host, port }: { readonly host: string; readonly port: number }, onIdleEnd: () => void) {
    const name = host.includes(':') ? `[${host}]` : host;
    this.#request = `GET /health HTTP/1.1\r\nHost: ${name}:${port}\r\nUser-Agent: etcd-operator\r\n\r\n`;
    this.#socket = connect({ host, port, noDelay: true });
    this.#socket.setEncoding('latin1');
    this.#socket.on('data', (text: string) => this.#receive(text));
    this.#socket.on('end', () => this.#read(true));
    this.#socket.on('error', (error: NodeJS.ErrnoException) => {
      this.#error = error.code;
    });
    this.#socket.on('close', () => {
      const wasIdle = this.#isOpen && this.#pending === undefined;
      this.#isOpen = false;
      this.#settle({ state: OWN_ERRORS.has(this.#error ?? '') ? 'unable' : 'closed' });
      if (wasIdle) onIdleEnd();
    });
  }

  /** Whether a request may be sent. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /**
   * Sends one request; never rejects. One at a time. The connection is closed unless the answer leaves it reusable.
   * @param timeoutMs how long the answer may take; once as long again when this process was held up meanwhile, since what it then has not
   *   read may have been there in time
   */
  async ask(timeoutMs: number): Promise<Asked> {
    const asked = await new Promise<Asked>(resolve => {
      const due = performance.now() + timeoutMs;
      // Timers run before what has arrived is read, and what is due immediately after it.
      const late = () =>
        setImmediate(() => {
          if (this.#pending === pending) this.#settle({ state: 'late' });
        });
      const onDue = (): void => {
        const wasHeldUp = performance.now() - due > HELD_UP * timeoutMs;
        if (wasHeldUp) pending.timer = setTimeout(late, timeoutMs);
        else late();
      };
      const pending: Pending = { settle: resolve, timer: setTimeout(onDue, timeoutMs) };
      this.#pending = pending;
      this.#text = '';
      if (this.#isOpen) this.#socket.write(this.#request);
      else this.#settle({ state: 'closed' });
    });
    if (asked.state !== 'complete' || !asked.reusable) this.close();
    return asked;
  }

  /** At once, whatever is under way. */
  close(): void {
    this.#isOpen = false;
    this.#settle({ state: 'closed' });
    this.#socket.destroy();
  }

  #receive(text: string): void {
    // Nobody asked: whatever this is, the next answer could not be told from it.
    if (this.#pending === undefined) this.#socket.destroy();
    else {
      this.#text += text;
      this.#read(false);
    }
  }

  #read(hasEnded: boolean): void {
    const answer = readHealthAnswer(this.#text, hasEnded);
    if (answer.state === 'complete') this.#settle(answer);
    if (answer.state === 'unreadable') this.#socket.destroy();
  }

  #settle(asked: Asked): void {
    const pending = this.#pending;
    if (pending === undefined) return;
    this.#pending = undefined;
    clearTimeout(pending.timer);
    pending.settle(asked);
  }
}
