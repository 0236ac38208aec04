/**
 * A real kube-apiserver on a real etcd for tests, both on ports of 127.0.0.1 that nothing else uses. There are no
 * controllers, scheduler or kubelets: an object stays as it was written, Pods stay Pending, and nothing collects
 * the children of a deleted owner. Every caller gets its own, and may run several side by side.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureCertificate, ensureSigningKey, openAuthority } from '../../local/stack/certificates.ts';
import { writeKubeconfig } from '../../local/stack/kubeconfig.ts';
import { ensureToolchain } from '../../local/toolchain/index.ts';
import { freePorts } from './free-ports.ts';

export interface ControlPlane {
  /** Path of a kubeconfig of a cluster administrator. */
  readonly kubeconfig: string;
  /** `https://127.0.0.1:<port>`, the same after every restart. */
  readonly url: string;
  /** Where its etcd is reached, without TLS: for what no kube-apiserver of today lets anyone write. */
  readonly etcdUrl: string;
  /** Path of the kubectl of the same version. */
  readonly kubectl: string;
  /** Of the two processes; that of the apiserver is another one after each restart, and undefined while it is stopped. */
  pids(): { readonly apiserver: number | undefined; readonly etcd: number | undefined };
  /** The text of the apiserver's /metrics. */
  metrics(): Promise<string>;
  /** Ends both processes and removes their files. */
  stop(): Promise<void>;
  /** SIGKILL to the apiserver; etcd and with it the objects stay. */
  stopApiserver(): Promise<void>;
  /** Resolves when the apiserver serves again. */
  startApiserver(): Promise<void>;
  /** The client certificate of another user, as the path of a kubeconfig; without RBAC rules it may do nothing. */
  kubeconfigFor(user: string, group?: string): Promise<string>;
}

const startTimeoutMs = 90_000;

/**
 * Starts a control plane and resolves when it is ready and its namespace `default` exists; takes about 5 s.
 * @param more further arguments of the apiserver
 */
export async function startControlPlane(more: readonly string[] = []): Promise<ControlPlane> {
  const toolchain = await ensureToolchain({ only: ['kube-apiserver', 'kubectl', ...etcdTools()] });
  const folder = await mkdtemp(join(tmpdir(), 'control-plane-'));
  const { etcdPort, peerPort, port } = await freePorts('etcdPort', 'peerPort', 'port');
  const plane = { folder, url: `https://127.0.0.1:${port}`, etcdUrl: `http://127.0.0.1:${etcdPort}` };
  await makeCertificates(plane);
  const etcd = launch(toolchain.path(etcdTools()[0]), etcdArguments(plane, `http://127.0.0.1:${peerPort}`));
  const startApiserver = async (): Promise<Program> => {
    const program = launch(toolchain.path('kube-apiserver'), [...apiserverArguments(plane, port), ...more]);
    await untilReady(plane, program).catch(async error => {
      await program.kill();
      throw error;
    });
    return program;
  };
  let apiserver: Program | undefined;
  const stopAll = async (): Promise<void> => {
    await apiserver?.kill();
    await etcd.kill();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    apiserver = await startApiserver();
  } catch (error) {
    const last = etcd.output();
    await stopAll();
    throw new Error(`the control plane did not come up: ${String(error)}; etcd printed: ${last}`);
  }
  return {
    kubeconfig: join(folder, 'admin.conf'),
    url: plane.url,
    etcdUrl: plane.etcdUrl,
    kubectl: toolchain.path('kubectl'),
    pids: () => ({ apiserver: apiserver?.child.pid, etcd: etcd.child.pid }),
    metrics: async () => {
      const page = await get200(`${plane.url}/metrics`, await adminTls(plane));
      if (page === undefined) throw new Error(`kube-apiserver does not answer at ${plane.url}/metrics`);
      return page;
    },
    stop: stopAll,
    stopApiserver: async () => {
      await apiserver?.kill();
      apiserver = undefined;
    },
    startApiserver: async () => {
      await apiserver?.kill();
      apiserver = await startApiserver();
    },
    kubeconfigFor: (user, group) => userKubeconfig(plane, user, group),
  };
}

interface Plane {
  readonly folder: string;
  readonly url: string;
  readonly etcdUrl: string;
}

function etcdTools(): ['etcd@3.6.16'] {
  return ['etcd@3.6.16'];
}

async function makeCertificates(plane: Plane): Promise<void> {
  const authority = await openAuthority(plane.folder, 'ca');
  await ensureSigningKey(plane.folder, 'service-account');
  await ensureCertificate(authority, {
    file: 'apiserver',
    commonName: 'kube-apiserver',
    usage: ['server'],
    dnsNames: ['localhost'],
    addresses: ['127.0.0.1'],
  });
  await userKubeconfig(plane, 'admin', 'system:masters');
}

async function userKubeconfig(plane: Plane, user: string, group?: string): Promise<string> {
  const authority = await openAuthority(plane.folder, 'ca');
  const request = { file: user, commonName: user, usage: ['client'] as const };
  await ensureCertificate(authority, group === undefined ? request : { ...request, organization: group });
  const path = join(plane.folder, `${user}.conf`);
  writeKubeconfig(path, {
    context: 'test',
    server: plane.url,
    certificateAuthorityFile: join(plane.folder, 'ca.crt'),
    clientCertificate: join(plane.folder, user),
  });
  return path;
}

function etcdArguments(plane: Plane, peerUrl: string): string[] {
  return [
    '--name=test',
    `--data-dir=${join(plane.folder, 'etcd')}`,
    '--unsafe-no-fsync',
    `--listen-client-urls=${plane.etcdUrl}`,
    `--advertise-client-urls=${plane.etcdUrl}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=test=${peerUrl}`,
    '--log-level=warn',
  ];
}

function apiserverArguments(plane: Plane, port: number): string[] {
  const file = (name: string): string => join(plane.folder, name);
  return [
    `--etcd-servers=${plane.etcdUrl}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    // Two Services a cluster, one of them with an address: enough for fleets of thousands.
    '--service-cluster-ip-range=10.0.0.0/16',
    `--client-ca-file=${file('ca.crt')}`,
    `--tls-cert-file=${file('apiserver.crt')}`,
    `--tls-private-key-file=${file('apiserver.key')}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${file('service-account.pub')}`,
    `--service-account-signing-key-file=${file('service-account.key')}`,
    '--authorization-mode=RBAC',
    // Without a controller manager no namespace gets its ServiceAccount, and no Pod could be created.
    '--disable-admission-plugins=ServiceAccount',
    '--endpoint-reconciler-type=none',
    '--allow-privileged=true',
    `--cert-dir=${file('generated')}`,
    '--profiling=false',
    '--v=0',
  ];
}

interface Program {
  readonly child: ChildProcess;
  output(): string;
  kill(): Promise<void>;
}

/** A process that ends with this one, even when this one is killed. */
function launch(command: string, args: readonly string[]): Program {
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', command, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = new Promise<void>(resolve => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  let printed = '';
  const keep = (chunk: Buffer): void => {
    printed = (printed + chunk.toString()).slice(-8192);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  child.once('error', error => keep(Buffer.from(String(error))));
  return {
    child,
    output: () => printed,
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function untilReady(plane: Plane, apiserver: Program): Promise<void> {
  const deadline = Date.now() + startTimeoutMs;
  const tls = await adminTls(plane);
  for (const path of ['/readyz', '/api/v1/namespaces/default']) {
    // A failing /readyz lists its checks, "ok" among them: only a whole body says that all are.
    while (!(await isServed(`${plane.url}${path}`, tls, path === '/readyz' ? 'ok' : undefined))) {
      if (apiserver.child.exitCode !== null || Date.now() > deadline) {
        throw new Error(`kube-apiserver does not serve ${path}; it printed: ${apiserver.output()}`);
      }
      await new Promise(resolve => setTimeout(resolve, 50));
    }
  }
}

async function adminTls(plane: Plane): Promise<object> {
  const file = (name: string): Promise<Buffer> => readFile(join(plane.folder, name));
  return { ca: await file('ca.crt'), cert: await file('admin.crt'), key: await file('admin.key') };
}

async function isServed(url: string, tls: object, body: string | undefined): Promise<boolean> {
  const text = await get200(url, tls);
  return text !== undefined && (body === undefined || text === body);
}

/** The body of an answer 200, undefined for any other and without one. */
function get200(url: string, tls: object): Promise<string | undefined> {
  return new Promise(resolve => {
    const request = get(url, { ...tls, agent: false, timeout: 5_000 }, response => {
      let text = '';
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      response.on('end', () => resolve(response.statusCode === 200 ? text : undefined));
      response.on('error', () => resolve(undefined));
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(undefined));
  });
}
