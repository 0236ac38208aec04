/** The image that this program runs from: pods that help it run the same one. */
import type { KubeClient } from '../../kube/port.ts';
import type { Config } from '../config/config.ts';

interface PodSpec {
  readonly containers?: readonly { readonly name: string; readonly image: string }[];
}

/** Answers OPERATOR_IMAGE, else the image of the pod that this process runs in, which is asked for once. */
export function ownImage(kube: KubeClient, config: Pick<Config, 'image' | 'pod'>): () => Promise<string> {
  let asked: Promise<string> | undefined;
  return () => {
    asked ??= askFor(kube, config).catch((error: unknown) => {
      asked = undefined;
      throw error;
    });
    return asked;
  };
}

async function askFor(kube: KubeClient, { image, pod }: Pick<Config, 'image' | 'pod'>): Promise<string> {
  if (image !== undefined) return image;
  const object = await kube.get({ apiVersion: 'v1', kind: 'Pod', ...pod });
  const { containers = [] } = (object?.['spec'] ?? {}) as PodSpec;
  const own = containers.find(({ name }) => name === 'operator') ?? containers[0];
  if (own !== undefined) return own.image;
  throw new Error(
    `pod ${pod.namespace}/${pod.name} does not exist, so the operator's image is not known: set OPERATOR_IMAGE`,
  );
}
