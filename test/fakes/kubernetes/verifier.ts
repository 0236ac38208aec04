/** The pods of verifications in memory: each gets an address, takes the snapshot into its scratch, and says what is to be said. */
import { LABEL_NAME } from '../../../src/api/names.ts';
import type { KubeObject } from '../../../src/kube/port.ts';
import { SCRATCH_SNAPSHOT, VERIFIER } from '../../../src/objects/verify-pod.ts';
import type { VerificationReport } from '../../../src/planner/backup/verification.ts';
import { withInjected } from './injected.ts';
import type { FakeKube } from './kube.ts';
import { FakeStore } from '../store.ts';

/** What a pod was asked, and what it was given. */
export interface Asked {
  readonly level: string;
  readonly revision: string;
  readonly snapshot: Buffer;
  readonly image: string;
}

interface PodSpec {
  readonly containers: readonly {
    readonly name: string;
    readonly args: readonly string[];
    readonly image: string;
  }[];
}

export class FakeVerifier {
  readonly #kube: FakeKube;
  readonly #scratches = new Map<string, FakeStore>();
  /** What each pod says; a text is a termination message that is no report. */
  report: (asked: Asked) => VerificationReport | string;
  /** What was asked, in order. */
  readonly asked: Asked[] = [];

  constructor(kube: FakeKube, report: FakeVerifier['report']) {
    this.#kube = kube;
    this.report = report;
  }

  /** The scratch of the pod that runs. */
  get scratch(): FakeStore {
    const [pod] = this.pods;
    return this.#scratchOf(pod?.metadata.uid ?? '');
  }

  get pods(): readonly KubeObject[] {
    const pods = this.#kube.all('Pod');
    return pods.filter(({ metadata }) => metadata.labels?.[LABEL_NAME] === 'etcd-claim-store');
  }

  /** Brings every pod as far as it can come. */
  settle(): void {
    for (const pod of this.pods) {
      const ref = {
        apiVersion: 'v1',
        kind: 'Pod',
        namespace: pod.metadata.namespace,
        name: pod.metadata.name,
      };
      if (pod.metadata.deletionTimestamp !== undefined) {
        this.#kube.finishDeletion(ref);
        continue;
      }
      const status = this.#statusOf(pod);
      if (status !== undefined) this.#kube.mutate(ref, object => void (object['status'] = status));
    }
  }

  #statusOf(pod: KubeObject): object | undefined {
    const before = pod['status'] as { readonly containerStatuses?: object } | undefined;
    if (JSON.stringify(before?.containerStatuses ?? '').includes('terminated')) return undefined;
    const works = { name: VERIFIER, state: { running: {} } };
    const running = {
      phase: 'Running',
      podIP: '10.1.0.1',
      containerStatuses: withInjected<{ name: string; state: object }>(pod, [works]),
    };
    const snapshot = this.#scratchOf(pod.metadata.uid ?? '').objects.get(SCRATCH_SNAPSHOT)?.bytes;
    if (snapshot === undefined) return running;
    const { containers } = pod['spec'] as PodSpec;
    const ours = containers.find(({ name }) => name === VERIFIER);
    const etcd = containers.find(({ name }) => name === 'etcd');
    const [level = '', revision = ''] = ours?.args ?? [];
    const asked = { level, revision, snapshot, image: etcd?.image ?? '' };
    this.asked.push(asked);
    const said = this.report(asked);
    const message = typeof said === 'string' ? said : JSON.stringify(said);
    return {
      ...running,
      containerStatuses: withInjected<{ name: string; state: object }>(pod, [
        { name: VERIFIER, state: { terminated: { exitCode: 0, message } } },
      ]),
    };
  }

  #scratchOf(uid: string): FakeStore {
    const found = this.#scratches.get(uid) ?? new FakeStore({ location: 'pod scratch' });
    this.#scratches.set(uid, found);
    return found;
  }
}
