/** Requests to an API server that the operator has no call for: other subresources, tables, discovery. */
import { FileCredentials } from '../../src/kube/credentials.ts';
import { silentLogger } from '../../src/kube/port.ts';
import { Transport, type TransportRequest } from '../../src/kube/transport.ts';

type RawRequest = Partial<Pick<TransportRequest, 'method' | 'contentType' | 'accept'>> & {
  readonly body?: unknown;
};

/** Sends one request with the identity of a kubeconfig, once; the text of its answer. Rejects with a KubeError for every status but 2xx. */
export async function rawText(kubeconfig: string, path: string, request: RawRequest = {}): Promise<string> {
  const transport = new Transport({
    credentials: new FileCredentials({ source: { file: kubeconfig }, logger: silentLogger }),
    connections: 1,
    attemptTimeoutMs: 10_000,
  });
  const { method = 'GET', body, ...rest } = request;
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  try {
    return (await transport.send({ method, path, ...rest, ...sent, signal: AbortSignal.timeout(10_000) }))
      .text;
  } finally {
    await transport.close();
  }
}
