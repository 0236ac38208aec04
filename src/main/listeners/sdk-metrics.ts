/**
 * The metrics of Temporal's SDK. Its own listener lets everybody keep as many connections as they like for as long as they
 * like (4,000 that never finish a request were all there after 20 s), so it listens on the loopback only, and its page is
 * served by ours.
 */
import { createServer } from 'node:net';

/** What the SDK writes (Prometheus' text format). */
const CONTENT_TYPE = 'text/plain; version=0.0.4';
const ASK_MS = 3_000;
const LOOPBACK = '127.0.0.1';

export interface SdkMetrics {
  /** host:port for the SDK to listen on. */
  readonly bindAddress: string;
  readonly contentType: string;
  /** Asks the SDK. Rejects when it does not answer. */
  text(): Promise<string>;
}

/** Finds a port of the loopback that is free now. */
export async function sdkMetrics(): Promise<SdkMetrics> {
  const bindAddress = `${LOOPBACK}:${await freePort()}`;
  return {
    bindAddress,
    contentType: CONTENT_TYPE,
    async text() {
      const answer = await fetch(`http://${bindAddress}/metrics`, { signal: AbortSignal.timeout(ASK_MS) });
      if (answer.status !== 200)
        throw new Error(`the SDK metrics endpoint answers with HTTP ${answer.status}`);
      return answer.text();
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, LOOPBACK, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
