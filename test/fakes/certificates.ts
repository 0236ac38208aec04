/** Certificates for tests: an authority of a test's own, and the Secrets that users would make with it. */
import type { KubeObject } from '../../src/kube/port.ts';
import { createAuthority, issueLeaf, type LeafRequest, type Pair } from '../../src/tls/issue.ts';

export const DAY_MS = 24 * 3600 * 1000;

/** An authority that lasts a year, and what it has issued. */
export class TestAuthority {
  readonly pair: Pair;
  readonly #now: number;

  private constructor(pair: Pair, now: number) {
    this.pair = pair;
    this.#now = now;
  }

  static async create(name: string, now = Date.now()): Promise<TestAuthority> {
    return new TestAuthority(await createAuthority(name, { now, lasts: 365 * DAY_MS }), now);
  }

  /** The same authority, which issues at another time (ms since the epoch). */
  at(now: number): TestAuthority {
    return new TestAuthority(this.pair, now);
  }

  issue(request: Partial<LeafRequest>, validity: { now?: number; lasts?: number } = {}): Promise<Pair> {
    const { commonName = 'test', usages = ['server', 'client'], dnsNames = [], addresses = [] } = request;
    const { now = this.#now, lasts = 90 * DAY_MS } = validity;
    return issueLeaf(this.pair, { commonName, usages, dnsNames, addresses }, { now, lasts });
  }
}

/** A Secret with these texts under these keys. */
export function secret(namespace: string, name: string, texts: Readonly<Record<string, string>>): KubeObject {
  const data = Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name },
    type: 'Opaque',
    data: Object.fromEntries(data),
  };
}

/** What certificates of a cluster are for, as a person would write it in their request. */
function namesFor(cluster: string, namespace: string): { peer: string[]; server: string[] } {
  const headless = `${cluster}.${namespace}.svc`;
  const client = `${cluster}-client`;
  return {
    peer: [`*.${headless}`, `*.${headless}.cluster.local`],
    server: [`*.${headless}`, client, `${client}.${namespace}`, `${client}.${namespace}.svc`, 'localhost'],
  };
}

/** The three Secrets of TLS.static, with the CoreOS operator's keys. */
export async function coreosSecrets(
  authority: TestAuthority,
  cluster: string,
  namespace: string,
): Promise<{ peer: KubeObject; server: KubeObject; operator: KubeObject }> {
  const names = namesFor(cluster, namespace);
  const peer = await authority.issue({ commonName: 'peer', dnsNames: names.peer });
  const server = await authority.issue({
    commonName: 'server',
    dnsNames: names.server,
    addresses: ['127.0.0.1'],
  });
  const operator = await authority.issue({ commonName: 'operator', usages: ['client'] });
  const ca = authority.pair.cert;
  return {
    peer: secret(namespace, `${cluster}-peer`, {
      'peer.crt': peer.cert,
      'peer.key': peer.key,
      'peer-ca.crt': ca,
    }),
    server: secret(namespace, `${cluster}-server`, {
      'server.crt': server.cert,
      'server.key': server.key,
      'server-ca.crt': ca,
    }),
    operator: secret(namespace, `${cluster}-operator`, {
      'etcd-client.crt': operator.cert,
      'etcd-client.key': operator.key,
      'etcd-client-ca.crt': ca,
    }),
  };
}

/** spec.TLS that names the Secrets of {@link coreosSecrets}. */
export function staticTls(cluster: string) {
  return {
    static: {
      member: { peerSecret: `${cluster}-peer`, serverSecret: `${cluster}-server` },
      operatorSecret: `${cluster}-operator`,
    },
  };
}
