/**
 * A client's connection as an application has it: to one member, and after any error to the next of those that there are by
 * then. It repeats no call. Owes nothing to the operator's own adapter, whose faults it would share.
 */
import { Etcd3, type IOptions } from 'etcd3';

/** `host:port` of the members, as they are known now. */
export type Endpoints = () => readonly string[];

type FaultPolicy = NonNullable<NonNullable<IOptions['faultHandling']>['global']>;

/** etcd3's own policies repeat calls whose outcome is unknown. */
const oneTry: FaultPolicy = {
  get _altReturn(): never {
    throw new Error('_altReturn exists for the type checker only');
  },
  execute: async <T>(call: (context: { signal: AbortSignal }) => PromiseLike<T> | T) =>
    call({ signal: new AbortController().signal }),
  onSuccess: () => ({ dispose: () => {} }),
  onFailure: () => ({ dispose: () => {} }),
};

/** A client of one member. Its creator closes it. */
export function dial(endpoint: string): Etcd3 {
  return new Etcd3({
    hosts: `http://${endpoint}`,
    grpcOptions: {
      'grpc.enable_retries': 0,
      'grpc.enable_http_proxy': 0,
      'grpc.use_local_subchannel_pool': 1,
      'grpc.initial_reconnect_backoff_ms': 50,
      'grpc.max_reconnect_backoff_ms': 200,
    },
    faultHandling: { host: () => oneTry, global: oneTry },
  });
}

/** How long an address is kept at least: dialling on every failed call would cost more than the calls. */
const STAY_MS = 100;

export class DrillConnection {
  readonly #endpoints: Endpoints;
  readonly #callMs: number;
  readonly #retired = new Set<Etcd3>();
  #turn: number;
  #current: Etcd3 | undefined;
  #dialledAt = 0;

  /**
   * @param options.first which of the members to begin with
   * @param options.callMs how long a call may take, in milliseconds
   */
  constructor(endpoints: Endpoints, options: { readonly first: number; readonly callMs: number }) {
    this.#endpoints = endpoints;
    this.#turn = options.first;
    this.#callMs = options.callMs;
  }

  /** Makes one call with a deadline. Throws what it throws, or when no member is known. */
  async call<T>(perform: (etcd: Etcd3, options: { readonly deadline: number }) => Promise<T>): Promise<T> {
    const etcd = this.#open();
    try {
      return await perform(etcd, { deadline: Date.now() + this.#callMs });
    } catch (error) {
      this.#leave(etcd);
      throw error;
    }
  }

  close(): void {
    this.#current?.close();
    for (const etcd of this.#retired) etcd.close();
    this.#retired.clear();
  }

  #open(): Etcd3 {
    if (this.#current !== undefined) return this.#current;
    const endpoints = this.#endpoints();
    const endpoint = endpoints[this.#turn % endpoints.length];
    if (endpoint === undefined) throw new Error('no member is known');
    this.#current = dial(endpoint);
    this.#dialledAt = performance.now();
    return this.#current;
  }

  /** The next call goes elsewhere; what is under way here may still be answered. */
  #leave(etcd: Etcd3): void {
    if (this.#current !== etcd || performance.now() - this.#dialledAt < STAY_MS) return;
    this.#current = undefined;
    this.#turn += 1;
    this.#retired.add(etcd);
    setTimeout(() => {
      etcd.close();
      this.#retired.delete(etcd);
    }, this.#callMs).unref();
  }
}
