/** Password authentication: a token is asked for once a connection, and goes with every call. */
import {
  Client,
  InterceptingCall,
  type Interceptor,
  Metadata,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import protobuf from 'protobufjs';
import type { MemberConnection } from './connection.ts';
import type { Credentials } from './port.ts';

const types = protobuf.Root.fromJSON({
  nested: {
    AuthenticateRequest: { fields: { name: { type: 'string', id: 1 }, password: { type: 'string', id: 2 } } },
    AuthenticateResponse: { fields: { token: { type: 'string', id: 2 } } },
  },
});
const authenticateRequest = types.lookupType('AuthenticateRequest');
const authenticateResponse = types.lookupType('AuthenticateResponse');

const DEADLINE_MS = 5_000;
/** What a header of HTTP/2 may say (grpc's PROTOCOL-HTTP2, ASCII-Value); etcd's tokens are letters, digits and dots. */
const SENDABLE = /^[ -~]+$/;

/** The token of a user, asked for once; after a refusal anew. */
export interface TokenSource {
  /** Rejects with grpc's ServiceError. */
  read(): Promise<string>;
}

/** Asks for nothing yet. */
export function tokenSource(connection: MemberConnection, credentials: Credentials): TokenSource {
  let asked: Promise<string> | undefined;
  const ask = async (): Promise<string> => {
    try {
      return await authenticate(connection, credentials);
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
          (error: Partial<ServiceError>) => {
            const { code = status.UNKNOWN, details = 'no token' } = error;
            listener.onReceiveStatus({ code, details, metadata: new Metadata() });
          },
        );
      },
    });
}

function authenticate(connection: MemberConnection, { username, password }: Credentials): Promise<string> {
  const client = new Client(connection.address, connection.credentials, connection.clientOptions());
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      '/etcdserverpb.Auth/Authenticate',
      (sent: object) => Buffer.from(authenticateRequest.encode(sent).finish()),
      (bytes: Buffer) => (authenticateResponse.decode(bytes) as unknown as { readonly token: string }).token,
      { name: username, password },
      { deadline: Date.now() + DEADLINE_MS },
      (error: ServiceError | null, answer?: string) => {
        if (error !== null) reject(error);
        else if (answer === undefined || !SENDABLE.test(answer)) reject(unusable());
        else resolve(answer);
      },
    );
  });
}

/** A header that cannot be sent would throw in the middle of a call, which then nothing would end. */
function unusable(): Partial<ServiceError> {
  const details = 'the token that was answered cannot be sent as one';
  const message = `${status.UNAUTHENTICATED} UNAUTHENTICATED: ${details}`;
  return Object.assign(new Error(message), { code: status.UNAUTHENTICATED, details });
}
