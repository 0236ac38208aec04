/** The one HTTP/2 connection to one member, shared by every client of it, dialled again after a failure, closed for good. */
import {
  Channel,
  type ChannelCredentials,
  type ChannelInterface,
  type ChannelOptions,
  connectivityState,
  credentials,
  InterceptingCall,
  type Interceptor,
  Metadata,
  status,
  type StatusObject,
} from '@grpc/grpc-js';
import { channelTarget, hostAndPort } from './member-resolver.ts';
import { type ClientTls, EtcdError, type MemberTarget } from './port.ts';

const CHANNEL_OPTIONS: ChannelOptions = {
  // Calls that may take longer than this notice a connection whose other end vanished without a word. etcd calls pings
  // that come more often than every 5 s an abuse (--grpc-keepalive-min-time).
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5_000,
  // Members are dialled by address, through nobody and described by no DNS record.
  'grpc.enable_http_proxy': 0,
  'grpc.service_config_disable_resolution': 1,
  'grpc.enable_channelz': 0,
  // No two targets share a connection, so that closing one closes it.
  'grpc.use_local_subchannel_pool': 1,
  // A call is tried once: whether to repeat it is for callers to say.
  'grpc.enable_retries': 0,
};

/**
 * A grpc channel that has failed answers from memory while it waits and tries again: a member that is up is refused, one
 * that hangs is reported by an error of the past. Operators ask seldom and want the truth of now, so here the first call
 * after a failure dials again, and between calls nobody dials.
 */
export class MemberConnection {
  readonly address: string;
  readonly credentials: ChannelCredentials;
  readonly #target: MemberTarget;
  /** The link that new calls use; none before the first call and after a failure. */
  #current: Link | undefined;
  /** Every link that is open: the current one, and failed ones that still carry calls. */
  readonly #links = new Set<Link>();
  #closed = false;

  constructor(target: MemberTarget) {
    this.#target = target;
    this.address = hostAndPort(target);
    this.credentials = channelCredentials(target);
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Options for a grpc client that shall use this connection; its own `close()` then does nothing. */
  clientOptions(outermost: Interceptor, interceptors: readonly Interceptor[]): ChannelOptions {
    return {
      channelOverride: this.#borrowed(),
      interceptors: [outermost, this.#tracker(), ...interceptors],
    };
  }

  /** Ends every call that is under way, with code CANCELLED, and frees all sockets and timers. */
  close(): void {
    this.#closed = true;
    this.#current = undefined;
    for (const link of this.#links) this.#end(link);
  }

  #link(): Link {
    if (this.#closed) throw new Error(`the connection to ${this.address} was closed`);
    if (this.#current === undefined) {
      this.#current = new Link(this.#target, this.credentials);
      this.#links.add(this.#current);
    }
    return this.#current;
  }

  #end(link: Link): void {
    this.#links.delete(link);
    link.close();
  }

  #finish(link: Link, call: InterceptingCall, outcome: StatusObject): void {
    link.calls.delete(call);
    if (link === this.#current && !wasAnswered(outcome)) this.#current = undefined;
    if (link !== this.#current && link.calls.size === 0) this.#end(link);
  }

  /**
   * The channel without its end. etcd3 closes its clients after every failed call, which would cut off the calls
   * beside it; and while a client connects it keeps it for a second more, hence the constant state.
   */
  #borrowed(): ChannelInterface {
    return {
      close: () => {},
      getConnectivityState: () => connectivityState.IDLE,
      getTarget: () => this.address,
      getChannelzRef: () => this.#link().channel.getChannelzRef(),
      watchConnectivityState: (state, deadline, callback) =>
        this.#link().channel.watchConnectivityState(state, deadline, callback),
      createCall: (...args) => this.#link().channel.createCall(...args),
    };
  }

  #tracker(): Interceptor {
    return (options, nextCall) => {
      const link = this.#link();
      const call: InterceptingCall = new InterceptingCall(nextCall(options), {
        start: (metadata, _listener, next) => {
          next(metadata, {
            onReceiveStatus: (said, forward) => {
              const outcome = wholeOutcome(said);
              this.#finish(link, call, outcome);
              forward(outcome);
            },
          });
        },
      });
      link.calls.add(call);
      return call;
    };
  }
}

/**
 * Reading certificates and key takes a third of a handshake's CPU time, and all members of a cluster are dialled with the same ones at the same
 * time. By the material itself, so that changed certificates never meet what was made of others; weak, since what OpenSSL keeps of them is
 * large, and a fleet has thousands. TLS sessions are not resumed: one that is would not notice that the certificate of a member has
 * expired (docs/decisions/0050-tls.md).
 */
const inUse = new WeakMap<ClientTls, WeakRef<ChannelCredentials>>();

/** Throws an EtcdError, which quotes nothing, for material that OpenSSL cannot use. */
function channelCredentials(target: MemberTarget): ChannelCredentials {
  if (target.tls === undefined) return credentials.createInsecure();
  const known = inUse.get(target.tls)?.deref();
  if (known !== undefined) return known;
  const { ca, cert, key } = target.tls;
  try {
    const made = credentials.createSsl(Buffer.from(ca), Buffer.from(key), Buffer.from(cert));
    inUse.set(target.tls, new WeakRef(made));
    return made;
  } catch {
    throw new EtcdError(
      'other',
      `the client certificate for ${target.serverName} cannot be used: certificate, key or authority is malformed, or they do not match`,
    );
  }
}

/** One grpc channel and the calls on it. */
class Link {
  readonly channel: Channel;
  readonly calls = new Set<InterceptingCall>();
  readonly #end = new AbortController();

  constructor({ host, port, serverName }: MemberTarget, channelCredentials: ChannelCredentials) {
    const { target, options } = channelTarget({ host, port, signal: this.#end.signal });
    // The address that is dialled is a pod's, the name that the certificate has to have is the member's.
    const name = { 'grpc.ssl_target_name_override': serverName };
    this.channel = new Channel(target, channelCredentials, { ...CHANNEL_OPTIONS, ...name, ...options });
  }

  close(): void {
    for (const call of this.calls) call.cancelWithStatus(status.CANCELLED, 'the connection was closed');
    this.calls.clear();
    this.channel.close();
    this.#end.abort();
  }
}

/**
 * grpc-js gives whatever its filters throw as the outcome of a call: for an answer that says that it is compressed, and is not in a
 * way that is known, an Error without code, details and metadata. A caller that reads those would throw where nothing catches it.
 */
function wholeOutcome(said: Partial<StatusObject> & { readonly message?: unknown }): StatusObject {
  const { code = status.INTERNAL, metadata = new Metadata() } = said;
  const details = said.details ?? (typeof said.message === 'string' ? said.message : 'no reason was given');
  return { code, details, metadata };
}

/** Whether etcd itself has answered, if only to refuse: the connection is good. */
function wasAnswered(outcome: StatusObject): boolean {
  return outcome.code === status.OK || outcome.details.startsWith('etcdserver:');
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
