/** The one HTTP/2 connection to one member, shared by every client of it, and closed for good. */
import {
  Channel,
  type ChannelInterface,
  type ChannelOptions,
  connectivityState,
  credentials,
  InterceptingCall,
  type Interceptor,
  status,
} from '@grpc/grpc-js';
import { channelTarget, hostAndPort } from './member-resolver.ts';
import type { MemberTarget } from './port.ts';

const CHANNEL_OPTIONS: ChannelOptions = {
  // A connection whose other end vanished without a word is given up while calls wait on it. etcd calls pings more
  // frequent than every 5 s an abuse (--grpc-keepalive-min-time).
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5_000,
  // A member that has just come up is seen within a second; grpc's own limit is two minutes.
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
  // Members are dialled by address, through nobody and described by no DNS record.
  'grpc.enable_http_proxy': 0,
  'grpc.service_config_disable_resolution': 1,
  'grpc.enable_channelz': 0,
  // No two targets share a connection, so that closing one closes it.
  'grpc.use_local_subchannel_pool': 1,
  // A call is tried once: whether to repeat it is for callers to say.
  'grpc.enable_retries': 0,
};

export class MemberConnection {
  readonly address: string;
  readonly credentials = credentials.createInsecure();
  readonly #channel: Channel;
  readonly #calls = new Set<InterceptingCall>();
  readonly #end = new AbortController();

  constructor({ host, port }: MemberTarget) {
    this.address = hostAndPort({ host, port });
    const { target, options } = channelTarget({ host, port, signal: this.#end.signal });
    this.#channel = new Channel(target, this.credentials, { ...CHANNEL_OPTIONS, ...options });
  }

  get closed(): boolean {
    return this.#end.signal.aborted;
  }

  /** Options for a grpc client that shall use this connection; its own `close()` then does nothing. */
  clientOptions(...interceptors: readonly Interceptor[]): ChannelOptions {
    return { channelOverride: this.#borrowed(), interceptors: [this.#tracker(), ...interceptors] };
  }

  /** Ends every call that is under way, with code CANCELLED, and frees the socket and all timers. */
  close(): void {
    if (this.closed) return;
    for (const call of this.#calls) call.cancelWithStatus(status.CANCELLED, 'the connection was closed');
    this.#calls.clear();
    this.#channel.close();
    this.#end.abort();
  }

  /**
   * The channel without its end. etcd3 closes its clients after every failed call, which would cut off the calls
   * beside it; and while a client connects it keeps it for a second more, hence the constant state.
   */
  #borrowed(): ChannelInterface {
    const channel = this.#channel;
    return {
      close: () => {},
      getConnectivityState: () => connectivityState.IDLE,
      getTarget: () => channel.getTarget(),
      getChannelzRef: () => channel.getChannelzRef(),
      watchConnectivityState: (state, deadline, callback) =>
        channel.watchConnectivityState(state, deadline, callback),
      createCall: (...args) => channel.createCall(...args),
    };
  }

  #tracker(): Interceptor {
    return (options, nextCall) => {
      const call: InterceptingCall = new InterceptingCall(nextCall(options), {
        start: (metadata, _listener, next) => {
          next(metadata, {
            onReceiveStatus: (received, forward) => {
              this.#calls.delete(call);
              forward(received);
            },
          });
        },
      });
      this.#calls.add(call);
      return call;
    };
  }
}

/**
 * Asks etcd to refuse a call at once while the member knows of no leader (metadata `hasleader`, as etcd's own
 * client sends it). Without it such a call is silent until its deadline, like a member that hangs.
 */
export const requireLeader: Interceptor = (options, nextCall) =>
  new InterceptingCall(nextCall(options), {
    start: (metadata, listener, next) => {
      metadata.set('hasleader', 'true');
      next(metadata, listener);
    },
  });
