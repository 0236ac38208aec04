/** The image that this program runs from: pods that help it run the same one. */
import { OPERATOR_CONTAINER } from '../../api/names.ts';
import { containersOf } from '../../objects/containers.ts';
import type { KubeClient } from '../../kube/port.ts';
import type { Config } from '../config/config.ts';

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
  const containers = object === undefined ? [] : containersOf(object);
  // If it was renamed there is one container, unless others were injected: then ours cannot be recognized.
  const own =
    containers.find(({ name }) => name === OPERATOR_CONTAINER) ??
    (containers.length === 1 ? containers[0] : undefined);
  if (own?.image !== undefined) return own.image;
  if (object !== undefined)
    throw new Error(
      `pod ${pod.namespace}/${pod.name} has no container ${OPERATOR_CONTAINER}, so the operator's image is not known: set OPERATOR_IMAGE`,
    );
  throw new Error(
    `pod ${pod.namespace}/${pod.name} does not exist, so the operator's image is not known: set OPERATOR_IMAGE`,
  );
}
