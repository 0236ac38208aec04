/** A client that writes one key after another, through one member after another, and tries again what fails. */
import { setTimeout as pause } from 'node:timers/promises';
import type { EtcdProcessCluster } from '../stack/etcd-process.ts';

const TRIES = 50;

export class Writer {
  readonly #cluster: EtcdProcessCluster;
  readonly #done: Promise<void>;
  readonly #failed: string[] = [];
  #written = 0;
  #ends = false;

  constructor(cluster: EtcdProcessCluster) {
    this.#cluster = cluster;
    this.#done = this.#run();
  }

  /** How many keys were written, and which not after many tries. */
  async end(): Promise<{ readonly written: number; readonly failed: readonly string[] }> {
    this.#ends = true;
    await this.#done;
    return { written: this.#written, failed: this.#failed };
  }

  async #run(): Promise<void> {
    for (let key = 0; !this.#ends; key += 1) {
      if (await this.#write(`key-${key}`)) this.#written += 1;
      else this.#failed.push(`key-${key}`);
      await pause(20);
    }
  }

  async #write(key: string): Promise<boolean> {
    const { members } = this.#cluster;
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      const member = members[(this.#written + attempt) % members.length];
      if (member !== undefined && (await put(member.clientUrl, key))) return true;
      await pause(50);
    }
    return false;
  }
}

async function put(url: string, key: string): Promise<boolean> {
  const body = JSON.stringify({ key: Buffer.from(key).toString('base64'), value: '' });
  try {
    const signal = AbortSignal.timeout(5_000);
    return (await fetch(`${url}/v3/kv/put`, { method: 'POST', body, signal })).ok;
  } catch {
    return false;
  }
}
