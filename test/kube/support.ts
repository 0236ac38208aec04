import type { ServerResponse } from 'node:http';
import { createKubeClient, type ClientOptions, type ClosableKubeClient } from '../../src/kube/client.ts';
import { FileCredentials } from '../../src/kube/credentials.ts';
import { type KubeLogger, silentLogger } from '../../src/kube/port.ts';
import { type Fault, FaultyApiserver } from '../fakes/kubernetes/faulty-apiserver.ts';
import { resetConnection, sendStatus } from '../fakes/kubernetes/faulty-apiserver-http.ts';

export const pods = { apiVersion: 'v1', kind: 'Pod' };

export function podRef(name: string): { apiVersion: string; kind: string; namespace: string; name: string } {
  return { ...pods, namespace: 'default', name };
}

export function pod(name: string, spec: object = {}) {
  return {
    ...pods,
    metadata: { name, namespace: 'default', labels: { app: 'etcd' } },
    spec: { containers: [], ...spec },
  };
}

export interface Bench {
  readonly server: FaultyApiserver;
  readonly client: ClosableKubeClient;
  close(): Promise<void>;
}

/** A faulty apiserver and a client that is led to it by a kubeconfig, with waits short enough for tests. */
export async function openBench(options: Partial<ClientOptions> = {}): Promise<Bench> {
  const server = await FaultyApiserver.start();
  const client = clientOf(server, options);
  return {
    server,
    client,
    close: async () => {
      await client.close();
      await server.stop();
    },
  };
}

export function clientOf(server: FaultyApiserver, options: Partial<ClientOptions> = {}): ClosableKubeClient {
  return createKubeClient({
    credentials: new FileCredentials({
      source: { file: server.kubeconfig },
      logger: silentLogger,
      refreshMs: 20,
    }),
    timeoutMs: 100_000,
    attemptTimeoutMs: 30_000,
    retry: { backoff: { firstMs: 5, maxMs: 50 }, attempts: 4 },
    ...options,
  });
}

export interface Line {
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export function memoryLogger(): KubeLogger & { readonly lines: Line[] } {
  const lines: Line[] = [];
  const at =
    (level: string) =>
    (message: string, fields: Readonly<Record<string, unknown>> = {}) => {
      lines.push({ level, message, fields });
    };
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn') };
}

/** Faults, as a network, a proxy or an apiserver in trouble makes them. */
export const faults = {
  status:
    (
      code: number,
      reason: string,
      more: { retryAfterSeconds?: number; message?: string; continueToken?: string } = {},
    ): Fault =>
    (_request, response) => {
      sendStatus(response, { code, reason, ...more });
      return true;
    },
  reset: ((_request, response) => {
    resetConnection(response.socket);
    return true;
  }) as Fault,
  /** Takes the request and never says a word. */
  hang: (() => true) as Fault,
  /** A 200 with these bytes; then the end of the body, or nothing more. */
  body:
    (bytes: string | Buffer, then: 'end' | 'stayOpen' | 'reset' = 'end'): Fault =>
    (_request, response) => {
      openStream(response).write(bytes, () => {
        if (then === 'end') response.end();
        if (then === 'reset') resetConnection(response.socket);
      });
      return true;
    },
  /** A 200 with these bytes again and again, until the client leaves. */
  trickle:
    (bytes: string): Fault =>
    (_request, response) => {
      const stream = openStream(response);
      const timer = setInterval(() => stream.write(bytes), 20);
      response.socket?.once('close', () => clearInterval(timer));
      return true;
    },
};

function openStream(response: ServerResponse): ServerResponse {
  response.writeHead(200, { 'content-type': 'application/json' });
  return response;
}

/** An in-band ERROR line of a watch. */
export function errorLine(code: number, reason: string): string {
  return `${JSON.stringify({ type: 'ERROR', object: { kind: 'Status', apiVersion: 'v1', code, reason, message: reason } })}\n`;
}
