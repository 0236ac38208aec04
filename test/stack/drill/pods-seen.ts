/** All pods that there were in a namespace, also those that are gone: with which images, and how they are pulled. */
import type { KubeObject } from '../../../src/kube/port.ts';
import type { World } from '../e2e.ts';

export interface SeenPod {
  readonly name: string;
  readonly images: readonly string[];
  /** The Secrets for pulling that it names. */
  readonly pulledWith: readonly string[];
}

/** Begins with those that are there; `stop` ends it and gives every one, by the order of its appearance. Fails if the watch broke off. */
export function watchPods({ kube }: World, namespace: string): { stop(): Promise<readonly SeenPod[]> } {
  const seen = new Map<string, SeenPod>();
  const over = new AbortController();
  const options = {
    namespace,
    resourceVersion: '0',
    timeoutSeconds: 1_800,
    idleTimeoutMs: 1_800_000,
    signal: over.signal,
  };
  const watching = (async () => {
    for await (const { type, object } of kube.watch({ apiVersion: 'v1', kind: 'Pod' }, options))
      if (type === 'ADDED') seen.set(object.metadata.uid ?? '', seenPod(object));
  })().then(
    () => undefined,
    (error: unknown) => error,
  );
  return {
    async stop() {
      const isOver = await Promise.race([watching.then(() => true), Promise.resolve(false)]);
      over.abort();
      const error = await watching;
      if (isOver) throw new Error(`the watch of pods in ${namespace} ended too early`, { cause: error });
      return [...seen.values()];
    },
  };
}

function seenPod({ metadata, spec }: KubeObject): SeenPod {
  const { containers, initContainers = [], imagePullSecrets = [] } = spec as PodSpec;
  return {
    name: metadata.name,
    images: [...initContainers, ...containers].map(({ image }) => image),
    pulledWith: imagePullSecrets.map(({ name }) => name),
  };
}

interface PodSpec {
  readonly containers: readonly { readonly image: string }[];
  readonly initContainers?: readonly { readonly image: string }[];
  readonly imagePullSecrets?: readonly { readonly name: string }[];
}
