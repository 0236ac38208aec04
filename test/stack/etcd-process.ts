/** Real etcd processes on 127.0.0.1, of any version of the toolchain. The starter of a cluster stops it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ensureToolchain } from '../../local/toolchain/index.ts';
import type { MemberTarget } from '../../src/etcd/port.ts';
import { freePorts } from './free-ports.ts';

const START_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 30_000;

/** Whether every thread of a process is stopped (proc_pid_stat(5), state T). */
function isStopped(pid: number): boolean {
  const folder = `/proc/${pid}/task`;
  const states = readdirSync(folder).map(thread =>
    readFileSync(join(folder, thread, 'stat'), 'utf8').replace(/^.*\) /s, ''),
  );
  return states.every(state => state.startsWith('T'));
}

/** A test run that is cut short leaves no process behind. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export type EtcdProcessOptions = {
  readonly name: string;
  readonly binary: string;
  readonly folder: string;
  readonly clientPort: number;
  readonly peerPort: number;
  readonly metricsPort: number;
};

/** One member: a data folder with its addresses, and the process on it while it runs. */
export class EtcdProcess {
  readonly name: string;
  readonly clientPort: number;
  readonly peerPort: number;
  /** Free for `--listen-metrics-urls`; only `startExactly` can ask for it. */
  readonly metricsPort: number;
  readonly peerUrl: string;
  readonly clientUrl: string;
  readonly target: MemberTarget;
  readonly #options: EtcdProcessOptions;
  #binary: string;
  #child: ChildProcess | undefined;

  constructor(options: EtcdProcessOptions) {
    this.#options = options;
    this.#binary = options.binary;
    this.name = options.name;
    this.clientPort = options.clientPort;
    this.peerPort = options.peerPort;
    this.metricsPort = options.metricsPort;
    this.peerUrl = `http://127.0.0.1:${options.peerPort}`;
    this.clientUrl = `http://127.0.0.1:${options.clientPort}`;
    this.target = { host: '127.0.0.1', port: options.clientPort, serverName: options.name };
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** What the process has printed so far, all starts together. */
  get log(): string {
    return readFileSync(this.#logPath, 'utf8');
  }

  get dataDir(): string {
    return join(this.#options.folder, this.name);
  }

  get #logPath(): string {
    return join(this.#options.folder, `${this.name}.log`);
  }

  /** Starts the process; does not wait until it serves. `flags` are added to those that every start needs. */
  start(flags: readonly string[] = []): void {
    this.startExactly([
      `--name=${this.name}`,
      `--data-dir=${this.dataDir}`,
      `--listen-client-urls=${this.clientUrl}`,
      `--advertise-client-urls=${this.clientUrl}`,
      `--listen-peer-urls=${this.peerUrl}`,
      `--initial-advertise-peer-urls=${this.peerUrl}`,
      ...flags,
    ]);
  }

  /** From its next start on it is of another version. */
  useBinary(binary: string): void {
    this.#binary = binary;
  }

  /** Starts the process with these arguments and this environment, and no other. */
  startExactly(args: readonly string[], env: Readonly<Record<string, string>> = {}): void {
    if (this.#child !== undefined) throw new Error(`${this.name} runs already`);
    const log = openSync(this.#logPath, 'a');
    const child = spawn(this.#binary, args, { stdio: ['ignore', log, log], env });
    closeSync(log);
    this.#child = child;
    running.add(child);
    child.once('exit', () => running.delete(child));
  }

  /** Ends the process, also one that is paused, and waits until it is gone. */
  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGKILL'): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    child.kill('SIGCONT');
    await gone;
  }

  /** Freezes the process: its sockets stay open and nothing answers, as soon as this has returned. */
  freeze(): void {
    const pid = this.#child?.pid;
    if (pid === undefined) return;
    process.kill(pid, 'SIGSTOP');
    // On a busy machine a thread that runs on another processor continues for a moment.
    const begun = performance.now();
    while (!isStopped(pid))
      if (performance.now() - begun > STOP_TIMEOUT_MS) throw new Error(`etcd ${this.name} does not stop`);
  }

  thaw(): void {
    this.#child?.kill('SIGCONT');
  }

  /** Waits until the member serves linearizable reads; fails with the end of its log, at once when it has ended. */
  async untilHealthy(): Promise<void> {
    await this.#until('healthy', async () => {
      if (this.#ended) throw this.#failure('ended and was not healthy');
      return (await this.#get('/health')).includes('"health":"true"');
    });
  }

  /** Waits until the process has ended by itself and returns its exit code. */
  async untilExited(): Promise<number | null> {
    const child = this.#child;
    if (child === undefined) throw new Error(`${this.name} does not run`);
    await this.#until('ended', () => Promise.resolve(this.#ended));
    return child.exitCode;
  }

  get #ended(): boolean {
    return this.#child === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  #failure(what: string): Error {
    const tail = this.log.split('\n').slice(-15).join('\n');
    return new Error(`${this.name} ${what}; its log ends:\n${tail}`);
  }

  async #get(path: string): Promise<string> {
    try {
      const response = await fetch(`${this.clientUrl}${path}`, { signal: AbortSignal.timeout(1_000) });
      return await response.text();
    } catch {
      return '';
    }
  }

  async #until(what: string, condition: () => Promise<boolean>): Promise<void> {
    const deadline = Date.now() + START_TIMEOUT_MS;
    while (!(await condition())) {
      if (Date.now() > deadline) throw this.#failure(`was not ${what} within ${START_TIMEOUT_MS} ms`);
      await pause(50);
    }
  }
}

/** Processes that form one etcd cluster. */
export class EtcdProcessCluster {
  readonly members: EtcdProcess[] = [];
  readonly #folder = mkdtempSync(join(tmpdir(), 'etcd-process-'));
  readonly #binary: string;

  private constructor(binary: string) {
    this.#binary = binary;
  }

  /** Bootstraps `size` members together and waits until each of them serves. */
  static async start(options: {
    readonly version: string;
    readonly size: number;
    /** Of each member, besides those that every start needs. */
    readonly flags?: readonly string[];
  }): Promise<EtcdProcessCluster> {
    const cluster = new EtcdProcessCluster(await etcdBinary(options.version));
    for (let serial = 0; serial < options.size; serial += 1) await cluster.#create();
    const initial = cluster.members.map(member => `${member.name}=${member.peerUrl}`).join(',');
    for (const member of cluster.members)
      member.start([`--initial-cluster=${initial}`, ...(options.flags ?? [])]);
    try {
      await Promise.all(cluster.members.map(member => member.untilHealthy()));
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  member(serial: number): EtcdProcess {
    const member = this.members[serial];
    if (member === undefined) throw new RangeError(`there is no member ${serial}`);
    return member;
  }

  /** A member with its ports and no process yet. */
  static async unstarted(options: { readonly version: string }): Promise<EtcdProcessCluster> {
    const cluster = new EtcdProcessCluster(await etcdBinary(options.version));
    await cluster.#create();
    return cluster;
  }

  /** Adds a learner to the member list and starts it, with the release of the others at first or with this one; does not wait until it serves. */
  async addLearner(version?: string): Promise<EtcdProcess> {
    const learner = await this.#create();
    if (version !== undefined) learner.useBinary(await etcdBinary(version));
    await this.#addToList(learner.peerUrl);
    const initial = this.members.map(member => `${member.name}=${member.peerUrl}`).join(',');
    learner.start([`--initial-cluster=${initial}`, '--initial-cluster-state=existing']);
    return learner;
  }

  /** Writes a key through the first member. */
  async put(key: string, value: string): Promise<void> {
    const encode = (text: string) => Buffer.from(text).toString('base64');
    await this.#post('/v3/kv/put', { key: encode(key), value: encode(value) });
  }

  /** Ends every process and deletes all data. */
  async stop(): Promise<void> {
    await Promise.all(this.members.map(member => member.stop()));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #create(): Promise<EtcdProcess> {
    const ports = await freePorts('clientPort', 'peerPort', 'metricsPort');
    const member = new EtcdProcess({
      name: `m${this.members.length}`,
      binary: this.#binary,
      folder: this.#folder,
      ...ports,
    });
    this.members.push(member);
    return member;
  }

  /** etcd refuses members while it has not seen every peer for five seconds; that refusal is waited out. */
  async #addToList(peerUrl: string): Promise<void> {
    const deadline = Date.now() + START_TIMEOUT_MS;
    for (;;) {
      try {
        return await this.#post('/v3/cluster/member/add', { peerURLs: [peerUrl], isLearner: true });
      } catch (error) {
        if (Date.now() > deadline || !String(error).includes('unhealthy cluster')) throw error;
        await pause(100);
      }
    }
  }

  async #post(path: string, body: object): Promise<void> {
    const url = `${this.member(0).clientUrl}${path}`;
    const response = await fetch(url, {
      method: 'POST',
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(10_000),
    });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  }
}

/** The path of an etcd binary; builds it the first time. */
export async function etcdBinary(version: string): Promise<string> {
  const tool = `etcd@${version}` as const;
  return (await ensureToolchain({ only: [tool] })).path(tool);
}
