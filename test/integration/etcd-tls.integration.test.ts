/** The etcd port over TLS, against real members whose flags are those of a pod, of every minor that is supported. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import { createEtcdPort } from '../../src/etcd/adapter.ts';
import type { ClientTls, EtcdMember } from '../../src/etcd/port.ts';
import { DATA_DIR } from '../../src/objects/etcd-arguments.ts';
import { memberPod } from '../../src/objects/pod.ts';
import type { Pair } from '../../src/tls/issue.ts';
import { cluster, member } from '../objects/clusters.ts';
import { DAY_MS, TestAuthority } from '../fakes/certificates.ts';
import { startArguments } from '../fakes/kubernetes/container-arguments.ts';
import { type EtcdProcess, EtcdProcessCluster } from '../stack/etcd-process.ts';

const NAME = 'example-0.example.shop.svc';
const MOUNTS = '/etc/etcd/tls';
const port = createEtcdPort({ deadlines: { status: 2_000, memberList: 2_000, linearizableRead: 2_000 } });

let authority: TestAuthority;
let client: Pair;
beforeAll(async () => {
  authority = await TestAuthority.create('company');
  client = await authority.issue({ usages: ['client'] });
});

/** A member that runs with the arguments of its pod; only names, ports and folders are this machine's. */
class SecureMember {
  readonly process: EtcdProcess;
  readonly #folder: string;
  readonly #spec: EtcdClusterSpec;

  private constructor(process: EtcdProcess, spec: EtcdClusterSpec) {
    this.process = process;
    this.#spec = spec;
    this.#folder = `${process.dataDir}-tls`;
  }

  static async start(cluster: EtcdProcessCluster, spec: EtcdClusterSpec): Promise<SecureMember> {
    const started = new SecureMember(cluster.member(0), spec);
    started.install(await serverPair());
    started.start();
    return started;
  }

  start(): void {
    this.process.startExactly(this.#arguments(this.#spec));
  }

  /** Puts certificate, key and authority where the pod has them, as the kubelet does when a Secret changes. */
  install(server: Pair, ca = authority.pair.cert): void {
    for (const role of ['peer', 'server']) {
      const folder = join(this.#folder, role);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'tls.crt'), server.cert);
      writeFileSync(join(folder, 'tls.key'), server.key, { mode: 0o600 });
      writeFileSync(join(folder, 'ca.crt'), ca);
    }
  }

  dial(tls: ClientTls | undefined, serverName = NAME): EtcdMember {
    return port.member({ host: '127.0.0.1', port: this.process.clientPort, serverName, tls });
  }

  #arguments(spec: EtcdClusterSpec): readonly string[] {
    const pod = memberPod(cluster(spec), member({ state: 'new', members: ['example-0'] }));
    return startArguments(pod).map(arg =>
      arg
        .replace(DATA_DIR, this.process.dataDir)
        .replace(MOUNTS, this.#folder)
        .replaceAll(NAME, 'localhost')
        .replaceAll(':2379', `:${this.process.clientPort}`)
        .replaceAll(':2380', `:${this.process.peerPort}`)
        .replaceAll(':2381', `:${this.process.metricsPort}`),
    );
  }
}

function serverPair(): Promise<Pair> {
  return authority.issue({ dnsNames: ['*.example.shop.svc', 'localhost'], addresses: ['127.0.0.1'] });
}

function material(pair: Pair = client, ca = authority.pair.cert): ClientTls {
  return { ...pair, ca };
}

/** One call over a connection of its own: its answer, or the failure's code and words. */
async function ask(member: EtcdMember): Promise<string> {
  try {
    return `version ${(await member.status()).version}`;
  } catch (error) {
    const { code, message } = error as { code: string; message: string };
    return `${code}: ${message}`;
  } finally {
    member.close();
  }
}

const STATIC = { member: { peerSecret: 'p', serverSecret: 's' }, operatorSecret: 'o' };

describe.each([
  ['3.5.35', { TLS: { static: STATIC } }],
  ['3.5.3', { TLS: { auto: {} } }],
  ['3.6.16', { TLS: { auto: {} } }],
  ['3.7.3', { TLS: { auto: {} } }],
] satisfies [string, EtcdClusterSpec][])('etcd %s with the flags of %j', (version, tls) => {
  let processes: EtcdProcessCluster;
  let running: SecureMember;

  beforeAll(async () => {
    processes = await EtcdProcessCluster.unstarted({ version });
    running = await SecureMember.start(processes, { version, ...tls });
    await vi.waitFor(
      async () => {
        const dialled = running.dial(material());
        try {
          await dialled.linearizableRead();
        } finally {
          dialled.close();
        }
      },
      { timeout: 120_000, interval: 100 },
    );
  });
  afterAll(async () => {
    await processes?.stop();
    rmSync(`${running?.process.dataDir}-tls`, { recursive: true, force: true });
  });

  test('answers who shows a certificate of the authority, by the name of the member', async () => {
    expect(await ask(running.dial(material()))).toBe(`version ${version}`);
  });

  test.each<[string, () => Promise<[ClientTls | undefined, string?]>]>([
    ['plain text', async () => [undefined]],
    ['another authority', async () => [material(client, (await TestAuthority.create('other')).pair.cert)]],
    ['another name', async () => [material(), 'elsewhere.example.com']],
    [
      'a client certificate of another authority',
      async () => [material(await (await TestAuthority.create('other')).issue({ usages: ['client'] }))],
    ],
    [
      'a client certificate that has expired',
      async () => [
        material(
          await authority.issue({ usages: ['client'] }, { now: Date.now() - 10 * DAY_MS, lasts: DAY_MS }),
        ),
      ],
    ],
  ])('with %s it is unreachable at once, and no secret is in the words', async (_, how) => {
    const [tls, serverName] = await how();
    const start = performance.now();
    const said = await ask(running.dial(tls, serverName));
    expect(said).toMatch(/^(unreachable|timeout): /);
    expect(said).not.toMatch(/BEGIN|PRIVATE/);
    expect(performance.now() - start).toBeLessThan(3_000);
  });

  test('a key of another certificate is refused before anything is dialled', async () => {
    const { key } = await authority.issue({});
    expect(() => running.dial(material({ ...client, key }))).toThrow(/cannot be used/);
  });

  test('shows a renewed certificate without a restart, and a new target trusts it', async () => {
    const successor = await TestAuthority.create('successor');
    const renewed = await successor.issue({ dnsNames: ['*.example.shop.svc'] });
    running.install(renewed);
    expect(await ask(running.dial(material(client, successor.pair.cert)))).toBe(`version ${version}`);
    expect(await ask(running.dial(material()))).toMatch(/^unreachable: /);
    running.install(await serverPair());
    expect(await ask(running.dial(material()))).toBe(`version ${version}`);
  });

  test('trusts an authority that was put beside its own from its next start on', async () => {
    const successor = await TestAuthority.create('successor');
    const both = `${authority.pair.cert}\n${successor.pair.cert}`;
    const later = material(await successor.issue({ usages: ['client'] }));
    running.install(await serverPair(), both);
    expect(await ask(running.dial(material()))).toBe(`version ${version}`);
    expect(await ask(running.dial(later))).not.toContain('version');
    await running.process.stop();
    running.start();
    await vi.waitFor(async () => expect(await ask(running.dial(later))).toBe(`version ${version}`), {
      timeout: 60_000,
      interval: 300,
    });
    expect(await ask(running.dial(material()))).toBe(`version ${version}`);
  });

  test('started with a bundle whose blocks stand in one line trusts no one', async () => {
    await running.process.stop();
    const before = running.process.log.length;
    const ca = authority.pair.cert.trim();
    running.install(await serverPair(), `${ca}${ca}`);
    running.start();
    const log = () => running.process.log.slice(before);
    await vi.waitFor(() => expect(log()).toContain('serving client traffic securely'), { timeout: 60_000 });
    expect(await ask(running.dial(material()))).not.toContain('version');
  });

  test('does not start with a key in its bundle', async () => {
    await running.process.stop();
    running.install(await serverPair(), `${authority.pair.cert}\n${client.key}`);
    running.start();
    expect(await running.process.untilExited()).not.toBe(0);
  });
});
