/** A real kube-apiserver with the generated CRDs, for tests of what it accepts and refuses. */
import { setTimeout as delay } from 'node:timers/promises';
import { parse } from 'yaml';
import { generateCrds } from '../../scripts/generate-crds.ts';
import { API_VERSION, type Kind } from '../../src/api/names.ts';
import { type ClosableKubeClient, createKubeClient } from '../../src/kube/client.ts';
import { FileCredentials } from '../../src/kube/credentials.ts';
import { type KubeObject, silentLogger } from '../../src/kube/port.ts';
import { type ControlPlane, startControlPlane } from '../stack/control-plane.ts';

export interface CrdServer {
  readonly plane: ControlPlane;
  readonly client: ClosableKubeClient;
  stop(): Promise<void>;
}

/** Resolves when the three kinds can be used; takes about 5 s. */
export async function startCrdServer(): Promise<CrdServer> {
  const plane = await startControlPlane();
  const credentials = new FileCredentials({ source: { file: plane.kubeconfig }, logger: silentLogger });
  const client = createKubeClient({ credentials });
  const stop = async (): Promise<void> => {
    await client.close();
    await plane.stop();
  };
  try {
    for (const definition of definitions()) await client.create(definition);
    for (const definition of definitions()) await untilEstablished(client, definition.metadata.name);
  } catch (error) {
    await stop();
    throw error;
  }
  return { plane, client, stop };
}

function definitions(): KubeObject[] {
  return [...generateCrds()]
    .filter(([path]) => !path.endsWith('kustomization.yaml'))
    .map(([, content]) => parse(content) as KubeObject);
}

async function untilEstablished(client: ClosableKubeClient, name: string): Promise<void> {
  const ref = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name };
  for (const deadline = performance.now() + 30_000; performance.now() < deadline; await delay(50)) {
    const status = (await client.get(ref))?.['status'] as { conditions?: { type: string; status: string }[] };
    if (status?.conditions?.some(entry => entry.type === 'Established' && entry.status === 'True')) return;
  }
  throw new Error(`${name} was not established within 30 s`);
}

/** A resource of the namespace default. Without a spec it has none. */
export function resource(kind: Kind, name: string, spec: unknown) {
  const metadata = { name, namespace: 'default' };
  return { apiVersion: API_VERSION, kind, metadata, ...(spec === undefined ? {} : { spec }) };
}

export const ref = (kind: Kind, name: string) => ({
  apiVersion: API_VERSION,
  kind,
  namespace: 'default',
  name,
});

/** The words of the API server when it refuses; empty when it does not. */
export async function refusal(write: Promise<unknown>): Promise<string> {
  return write.then(
    () => '',
    (error: Error) => error.message,
  );
}

/** Rows with their title first, which is where a test's name takes it from uncut. */
export function titled<Row extends { readonly what: string }>(rows: readonly Row[]): [string, Row][] {
  return rows.map(row => [row.what, row]);
}
