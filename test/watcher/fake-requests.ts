/** Workflows as far as EtcdRequests know them: they carry each out once, and remember what became of it. */
import { type ResourceRef, workflowId } from '../../src/api/names.ts';
import type { GivenRequest } from '../../src/api/values/requests.ts';
import type { RequestUpdate } from '../../src/watcher/requests/message.ts';
import type { Became, Delivered, RequestPort } from '../../src/watcher/temporal/request-port.ts';
import { grpcFailure } from './fakes.ts';

export class FakeRequests implements RequestPort {
  /** What workflows were made to do, as `<workflow> <update>`, in order. */
  readonly done: string[] = [];
  /** Arguments of updates that were carried out. */
  readonly sent: unknown[] = [];
  readonly remembered = new Map<string, GivenRequest>();
  /** What a new request comes to. */
  verdict: Pick<GivenRequest, 'state' | 'message' | 'verdict'> = { state: 'done', message: 'paused' };
  /** No workflow runs. */
  stopped = false;
  /** Updates of this name are of a release that no worker is of. */
  unhandled: string | undefined;
  /** Nothing reaches Temporal, which fails with this gRPC code. */
  code: number | undefined;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  async deliver(
    ref: ResourceRef,
    { name, argument }: RequestUpdate,
  ): Promise<{ became: Delivered; runId?: string }> {
    const gone = this.#away();
    if (gone !== undefined) return { became: gone };
    const { uid, expiresAt } = argument.request;
    const known = this.remembered.get(uid);
    if (known !== undefined) return { became: known, runId: 'run' };
    if (name === this.unhandled) return { became: 'noHandler' };
    if (this.#now() > expiresAt) return { became: { state: 'refused', message: 'the request expired' } };
    if (this.verdict.state === 'refused') return { became: this.verdict };
    this.done.push(`${workflowId(ref)} ${name}`);
    this.sent.push(argument);
    this.remembered.set(uid, { uid, expiresAt, ...this.verdict });
    return { became: this.verdict, runId: 'run' };
  }

  async became(_: ResourceRef, uid: string): Promise<Became> {
    return this.#away() ?? this.remembered.get(uid) ?? 'unknown';
  }

  /** What was accepted comes to this. */
  ends(state: GivenRequest['state'], message: string, verdict?: GivenRequest['verdict']): void {
    for (const [uid, known] of this.remembered)
      this.remembered.set(uid, { ...known, state, message, ...(verdict && { verdict }) });
  }

  #away(): 'notRunning' | undefined {
    if (this.code !== undefined) throw grpcFailure(this.code);
    return this.stopped ? 'notRunning' : undefined;
  }
}
