/** Puts the operator of this checkout into a local stack, the way a user puts a release into a cluster. */
import { ensureOperatorImage, type Image } from './images/index.ts';
import { type Progress, silentProgress } from './progress.ts';
import type { Stack } from './stack/index.ts';

export const OPERATOR_NAMESPACE = 'etcd-operator';
const DEPLOYMENT = 'deployment/etcd-operator';
/** On the pod template: another image under the same tag is another template, so the pods are replaced. */
const DIGEST = 'local.stack/image-digest';

/** Builds the operator's image of this checkout and brings it to every node of a stack. */
export async function loadOperatorImage(stack: Stack, progress: Progress = silentProgress): Promise<Image> {
  const image = await progress.step('operator image', () =>
    ensureOperatorImage(stack.toolchain, { progress }),
  );
  await progress.step('image to every node', () => stack.loadImages([image]));
  return image;
}

/** Applies deploy/ and waits until every replica of this very image is ready. Harmless when it is so already. */
export async function installOperator(stack: Stack, progress: Progress = silentProgress): Promise<void> {
  const image = await loadOperatorImage(stack, progress);
  await progress.step('kubectl apply -k deploy', async () => {
    await stack.kubectl(
      'apply',
      '--server-side',
      '--force-conflicts',
      '-k',
      new URL('../deploy', import.meta.url).pathname,
    );
    const annotations = { [DIGEST]: image.digest };
    const patch = JSON.stringify({ spec: { template: { metadata: { annotations } } } });
    await stack.kubectl('-n', OPERATOR_NAMESPACE, 'patch', DEPLOYMENT, '--type', 'merge', '-p', patch);
    await stack.kubectl(
      'wait',
      '--for=condition=Established',
      '--timeout=30s',
      'crd/etcdclusters.etcd.database.coreos.com',
    );
  });
  await progress.step('operator ready', () =>
    stack.kubectl('-n', OPERATOR_NAMESPACE, 'rollout', 'status', DEPLOYMENT, '--timeout=180s'),
  );
}
