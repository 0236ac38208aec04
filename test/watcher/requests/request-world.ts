/** EtcdRequests in a world of a whole watcher. */
import { READINESS_TYPES } from '../../../src/api/derived/readiness.ts';
import { API_VERSION, type ResourceRef } from '../../../src/api/names.ts';
import type { EtcdRequestSpec, EtcdRequestStatus } from '../../../src/api/schemas/types.ts';
import type { KubeObject } from '../../../src/kube/port.ts';
import { Harness } from '../harness.ts';
import { refTo } from '../objects.ts';

export const example = refTo('EtcdCluster', 'example');

export const PAUSE: EtcdRequestSpec = {
  clusterRef: { name: 'example' },
  action: 'Pause',
  by: 'ana',
  reason: 'maintenance',
  expiresAfterSeconds: 600,
  ttlSecondsAfterFinished: 3600,
};

export class RequestWorld extends Harness {
  /** Makes a request, in the apiserver and in the reflector's eyes. */
  ask(name: string, spec: EtcdRequestSpec = PAUSE): void {
    const metadata = { namespace: 'default', name, creationTimestamp: this.clock.date().toISOString() };
    this.kube.seed({ apiVersion: API_VERSION, kind: 'EtcdRequest', metadata, spec });
    this.hear(name);
  }

  /** The watch brings what is stored. */
  hear(name: string): void {
    const stored = this.request(name);
    if (stored !== undefined) this.reflectors.put(stored);
  }

  /** A resource is gone, and the watch says so. */
  forget(ref: ResourceRef): void {
    const stored = this.stored(ref);
    if (stored === undefined) throw new Error(`${ref.name} is not stored`);
    this.kube.finishDeletion({ apiVersion: API_VERSION, ...ref });
    this.reflectors.remove(stored);
  }

  request(name: string): KubeObject | undefined {
    return this.kube.peek({ apiVersion: API_VERSION, kind: 'EtcdRequest', namespace: 'default', name });
  }

  status(name: string): EtcdRequestStatus {
    return (this.request(name)?.['status'] ?? {}) as EtcdRequestStatus;
  }

  /** Reasons of the conditions, by type; but for those that only sum them up. */
  reasons(name: string): Record<string, string> {
    return Object.fromEntries(
      (this.status(name).conditions ?? [])
        .filter(({ type }) => !READINESS_TYPES.includes(type))
        .map(({ type, reason }) => [type, reason]),
    );
  }

  /** Time passes, and the watch brings what was written. */
  async pass(milliseconds: number, ...names: readonly string[]): Promise<void> {
    for (let passed = 0; passed < milliseconds; passed += 1_000) {
      await this.clock.advance(Math.min(1_000, milliseconds - passed));
      for (const name of names) this.hear(name);
    }
  }
}

/** A world whose watcher runs and knows the example. */
export async function started(): Promise<RequestWorld> {
  const world = new RequestWorld();
  await world.watcher.start();
  world.put(example);
  return world;
}
