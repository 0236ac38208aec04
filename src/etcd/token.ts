/** Password authentication: a token is asked for once a connection, and goes with every call. */
import { InterceptingCall, type Interceptor, Metadata, status } from '@grpc/grpc-js';
import type { EtcdClient } from './client.ts';
import { outcomeOf } from './failure.ts';
import type { Credentials } from './port.ts';

const DEADLINE_MS = 5_000;
/** What a header of HTTP/2 may say (grpc's PROTOCOL-HTTP2, ASCII-Value); etcd's tokens are letters, digits and dots. */
const SENDABLE = /^[ -~]+$/;

/** The token of a user, asked for once; after a refusal again. */
export interface TokenSource {
  /** Rejects with what etcd3 makes of grpc's error. */
  read(): Promise<string>;
}

/** Asks for nothing yet. @param client without a token of its own */
export function tokenSource(client: EtcdClient, credentials: Credentials): TokenSource {
  let asked: Promise<string> | undefined;
  const ask = async (): Promise<string> => {
    try {
      return await authenticate(client, credentials);
    } catch (error) {
      asked = undefined;
      throw error;
    }
  };
  return { read: () => (asked ??= ask()) };
}

/**
 * Puts the token of a user into the metadata of each call (`token`, as etcd's own client sends it). A call whose
 * token is refused fails as that refusal.
 */
export function withToken(source: TokenSource): Interceptor {
  return (options, nextCall) =>
    new InterceptingCall(nextCall(options), {
      start: (metadata, listener, next) => {
        source.read().then(
          text => {
            metadata.set('token', text);
            next(metadata, listener);
          },
          (error: unknown) => {
            const { code = status.UNKNOWN, details } = outcomeOf(error);
            listener.onReceiveStatus({ code, details, metadata: new Metadata() });
          },
        );
      },
    });
}

async function authenticate(client: EtcdClient, { username, password }: Credentials): Promise<string> {
  const deadline = Date.now() + DEADLINE_MS;
  const { token } = await client.auth.authenticate({ name: username, password }, { deadline });
  // A header that cannot be sent would throw in the middle of a call, which then nothing would end.
  if (SENDABLE.test(token)) return token;
  throw new Error(`${status.UNAUTHENTICATED} UNAUTHENTICATED: the returned token cannot be sent in a header`);
}
