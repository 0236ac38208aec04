import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import type { PlacedStack } from './context.ts';
import { portsOf } from './context.ts';
import { pkiFile } from './pki.ts';

/** A JSON answer of the API server. */
interface KubeAnswer {
  status: number;
  body: unknown;
  text: string;
}

/** As much of a Kubernetes client as bringing up a cluster needs. Close it when done. */
export interface KubeApi {
  /** Gives the answer whatever its status; throws when there is none within five seconds. */
  call(method: string, path: string, body?: unknown): Promise<KubeAnswer>;
  /** Server-side apply of one object at its own path. Throws with the API server's message when refused. */
  apply(path: string, object: object): Promise<void>;
  close(): void;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined; // health endpoints answer in plain text
  }
}

function messageOf(answer: KubeAnswer): string {
  const { body } = answer;
  const hasMessage = typeof body === 'object' && body !== null && 'message' in body;
  return hasMessage ? String(body.message) : answer.text.slice(0, 500);
}

/** Opens a client with the stack's administrator certificate. */
export function openKubeApi(context: PlacedStack): KubeApi {
  const agent = new Agent({
    keepAlive: true,
    ca: readFileSync(pkiFile(context, 'ca.crt')),
    cert: readFileSync(pkiFile(context, 'admin.crt')),
    key: readFileSync(pkiFile(context, 'admin.key')),
  });
  const origin = `https://${context.addresses.host}:${portsOf(context).apiserver}`;
  const call = (method: string, path: string, body?: unknown): Promise<KubeAnswer> =>
    new Promise((resolve, reject) => {
      const type = method === 'PATCH' ? 'application/apply-patch+yaml' : 'application/json';
      const payload = body === undefined ? undefined : JSON.stringify(body);
      const options = {
        method,
        agent,
        timeout: 5000,
        headers: { 'Content-Type': type, Accept: 'application/json' },
      };
      const sent = request(`${origin}${path}`, options, received => {
        const chunks: Buffer[] = [];
        received.on('data', (chunk: Buffer) => chunks.push(chunk));
        received.on('error', reject);
        received.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          resolve({ status: received.statusCode ?? 0, body: parse(text), text });
        });
      });
      sent.on('timeout', () =>
        sent.destroy(new Error(`${method} ${path}: no answer from the API server within 5 s`)),
      );
      sent.on('error', reject);
      sent.end(payload);
    });
  return {
    call,
    apply: async (path, object) => {
      const answer = await call('PATCH', `${path}?fieldManager=local-stack&force=true`, object);
      if (answer.status >= 300) throw new Error(`cannot apply ${path}: ${messageOf(answer)}`);
    },
    close: () => agent.destroy(),
  };
}
