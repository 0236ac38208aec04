/**
 * How grpc-js learns a member's address. Its own resolvers would do for that, but grpc-js does not end what it began when
 * a channel is closed: a socket that connects stays, for two minutes when nothing answers and forever when the other
 * side accepts and is silent, as a frozen etcd is; and a pending retry connects once more. It hands
 * the address that a resolver gives to `net.connect` as it is, so this one carries an abort signal: it ends the socket in
 * every state, and lets no new one begin.
 */
import { type ChannelOptions, experimental, status } from '@grpc/grpc-js';

const SCHEME = 'etcd-member';
const OPTION = 'etcd-operator.address';

type Address = { readonly host: string; readonly port: number; readonly signal: AbortSignal };

/** The target of a channel to `address`, and the options that the channel needs besides. */
export function channelTarget(address: Address): {
  readonly target: string;
  readonly options: ChannelOptions;
} {
  return { target: `${SCHEME}:${hostAndPort(address)}`, options: { [OPTION]: address } };
}

/** `host:port`, with brackets around an IPv6 address. */
export function hostAndPort({ host, port }: { readonly host: string; readonly port: number }): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

type ResolverParameters = ConstructorParameters<Parameters<typeof experimental.registerResolver>[1]>;

class MemberResolver implements experimental.Resolver {
  readonly #listener: experimental.ResolverListener;
  readonly #address: Address | undefined;
  #isReported = false;

  constructor(
    _target: ResolverParameters[0],
    listener: ResolverParameters[1],
    options: ResolverParameters[2],
  ) {
    this.#listener = listener;
    this.#address = options[OPTION] as Address | undefined;
  }

  static getDefaultAuthority(target: ResolverParameters[0]): string {
    return target.path;
  }

  /** The address never changes, so it is reported once in a lifetime; the contract requires: never synchronously. */
  updateResolution(): void {
    if (this.#isReported) return;
    this.#isReported = true;
    process.nextTick(() => {
      this.#listener(this.#endpoints(), {}, null, '');
    });
  }

  destroy(): void {
    this.#isReported = false;
  }

  #endpoints(): Parameters<experimental.ResolverListener>[0] {
    return this.#address === undefined
      ? experimental.statusOrFromError({ code: status.UNAVAILABLE, details: `${OPTION} is not set` })
      : experimental.statusOrFromValue([{ addresses: [abortable(this.#address)] }]);
  }
}

/** `net.connect` revives a socket that was aborted before it began; reading an aborted signal therefore throws. */
function abortable({ host, port, signal }: Address): Address {
  return {
    host,
    port,
    get signal() {
      signal.throwIfAborted();
      return signal;
    },
  };
}

experimental.registerResolver(SCHEME, MemberResolver);
