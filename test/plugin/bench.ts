/** The plugin against a fake API server over HTTPS: a command line goes in, texts and an exit code come out. */
import type { ServerResponse } from 'node:http';
import { API_VERSION } from '../../src/api/names.ts';
import type { EtcdRequestStatus } from '../../src/api/schemas/types.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import { type Fault, FaultyApiserver } from '../fakes/kubernetes/faulty-apiserver.ts';
import { type Person, type Ran, runPlugin } from './process.ts';

export class PluginBench {
  readonly server: FaultyApiserver;
  user = 'ana';
  readonly #token: string;

  private constructor(server: FaultyApiserver) {
    this.server = server;
    this.#token = server.token;
  }

  static async start(): Promise<PluginBench> {
    const bench = new PluginBench(await FaultyApiserver.start());
    await bench.reset();
    return bench;
  }

  /** An API server without faults and objects, as at the beginning. */
  async reset(): Promise<void> {
    const { server } = this;
    this.user = 'ana';
    server.heal();
    server.fail('create', (request, response) => this.#review(request.kind, response), Infinity);
    server.requests.length = 0;
    server.token = this.#token;
    await server.writeKubeconfig();
    for (const kind of ['EtcdCluster', 'EtcdBackup', 'EtcdRestore', 'EtcdRequest'])
      for (const { metadata } of (await server.kube.list({ apiVersion: API_VERSION, kind })).items)
        await server.kube.delete({ apiVersion: API_VERSION, kind, ...metadata });
  }

  stop(): Promise<void> {
    return this.server.stop();
  }

  /** Runs `kubectl etcd` with this command line. */
  run(line: string, person?: Person): Promise<Ran> {
    return runPlugin(line, this.server.kubeconfig, person);
  }

  /** The resource with its status, in namespace default unless it says otherwise. */
  async put(
    kind: string,
    name: string,
    parts: { spec?: object; status?: object; namespace?: string },
  ): Promise<void> {
    const { spec = {}, status, namespace = 'default' } = parts;
    const ref = { apiVersion: API_VERSION, kind, namespace, name };
    const { apiVersion } = ref;
    await this.server.kube.create({ apiVersion, kind, metadata: { name, namespace }, spec });
    if (status !== undefined)
      await this.server.kube.patch(ref, { status }, { type: 'merge', subresource: 'status' });
  }

  async requests(): Promise<KubeObject[]> {
    return (await this.server.kube.list({ apiVersion: API_VERSION, kind: 'EtcdRequest' })).items;
  }

  /** The operator answers every request with this status. */
  async answerRequests(status: EtcdRequestStatus): Promise<void> {
    for (const { metadata } of await this.requests()) {
      const { name, namespace } = metadata;
      const ref = { apiVersion: API_VERSION, kind: 'EtcdRequest', namespace, name };
      await this.server.kube.patch(ref, { status }, { type: 'merge', subresource: 'status' });
    }
  }

  #review(kind: string, response: ServerResponse): boolean {
    if (kind !== 'SelfSubjectReview') return false;
    sendJson(response, 201, {
      apiVersion: 'authentication.k8s.io/v1',
      kind,
      metadata: { creationTimestamp: null },
      status: { userInfo: { username: this.user, groups: ['system:authenticated'] } },
    });
    return true;
  }
}

/** What an API server with RBAC answers. */
export const forbidden =
  (user: string, verb: string, resource: string, namespace?: string): Fault =>
  (request, response) => {
    if (request.kind === 'SelfSubjectReview') return false;
    const where = namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`;
    const message = `${resource}.etcd.database.coreos.com is forbidden: User "${user}" cannot ${verb} resource "${resource}" in API group "etcd.database.coreos.com" ${where}`;
    sendJson(response, 403, {
      apiVersion: 'v1',
      kind: 'Status',
      status: 'Failure',
      code: 403,
      reason: 'Forbidden',
      message,
    });
    return true;
  };

function sendJson(response: ServerResponse, code: number, body: unknown): void {
  response.writeHead(code, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

/** A condition with the time at which the world of these tests began. */
export function condition(type: string, status: string, reason: string, message = reason): object {
  return { type, status, reason, message, lastTransitionTime: '2026-11-23T11:57:00Z' };
}

/** The status of a cluster of three members to which nothing happens. */
export const WELL = {
  phase: 'Running',
  size: 3,
  ready: '3/3',
  currentVersion: '3.6.16',
  observedGeneration: 1,
  serviceName: 'example-client',
  clientPort: 2379,
  workflowID: 'etcdcluster/default/example/0b7e6e34',
  members: {
    ready: ['example-0', 'example-1', 'example-2'],
    details: ['Leader', 'Follower', 'Follower'].map((role, index) => ({
      name: `example-${index}`,
      id: `a${index}`,
      role,
      version: '3.6.16',
      health: 'Healthy',
      node: `node-${index}`,
    })),
  },
  conditions: [
    condition('Available', 'True', 'LinearizableRead'),
    condition('Healthy', 'True', 'AllMembersHealthy'),
    condition('Progressing', 'False', 'AsSpecified'),
    condition('BackedUp', 'True', 'VerifiedBackup'),
  ],
};

/** {@link WELL} with other conditions of these types. */
export function wellBut(conditions: readonly object[], rest: object = {}): object {
  const types = conditions.map(each => (each as { type: string }).type);
  const kept = WELL.conditions.filter(each => !types.includes((each as { type: string }).type));
  return { ...WELL, ...rest, conditions: [...kept, ...conditions] };
}
