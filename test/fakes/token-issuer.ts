/** An issuer of tokens for Temporal's authorizer: signs them, and serves the key to check them with. */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

const KEY_ID = 'test';

export interface TokenContent {
  /** Each `NAMESPACE:RIGHT`, with the right `read`, `write` or `admin`; the namespace `temporal-system` stands for the whole server. */
  readonly permissions: readonly string[];
  /** Seconds from now; negative for a token that has expired. */
  readonly expiresIn?: number;
}

export class TokenIssuer {
  readonly #server: Server;
  readonly #key: KeyObject;

  private constructor(server: Server, key: KeyObject) {
    this.#server = server;
    this.#key = key;
  }

  static async start(): Promise<TokenIssuer> {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const jwk = { ...publicKey.export({ format: 'jwk' }), kid: KEY_ID, use: 'sig', alg: 'RS256' };
    const server = createServer((_, response) => {
      response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: [jwk] }));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TokenIssuer(server, privateKey);
  }

  get keysUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/keys.json`;
  }

  /** A token (RFC 7519), signed with the key that is served. */
  issue({ permissions, expiresIn = 3_600 }: TokenContent): string {
    const exp = Math.floor(Date.now() / 1_000) + expiresIn;
    const content = [
      { alg: 'RS256', typ: 'JWT', kid: KEY_ID },
      { sub: 'test', permissions, exp },
    ];
    const text = content.map(part => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    return `${text}.${sign('sha256', Buffer.from(text), this.#key).toString('base64url')}`;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}
