/** Releases of the operator as a stack can run them: an image on its nodes, and manifests that name it. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { ensureOperatorImage, type Image } from '../../local/images/index.ts';
import { root } from '../../scripts/run.ts';
import { putPreviousSources } from '../worlds/previous-sources.ts';
import type { World } from './e2e.ts';

const execute = promisify(execFile);

export interface OperatorRelease {
  /** For users. */
  readonly title: string;
  readonly image: Image;
  /** Its folder `deploy`. */
  readonly deploy: string;
  /** A kustomization of its `deploy/operator` with its image. */
  readonly operator: string;
}

export interface Releases {
  readonly previous: OperatorRelease;
  readonly current: OperatorRelease;
  /** Removes their files; the images stay in the cache. */
  close(): Promise<void>;
}

/** On the pod template, as local/operator.ts sets it: distinguishes releases whatever their tags are. */
export const DIGEST = 'local.stack/image-digest';

/** Builds the previous release (previous-sources.ts) and this checkout, and loads both images into every node. */
export async function releasesOf({ stack }: World): Promise<Releases> {
  // In the checkout, where its imports find their packages; git and the linters leave such a folder alone.
  const folder = await mkdtemp(join(root, 'dist-releases-'));
  const close = () => rm(folder, { recursive: true, force: true });
  try {
    const sources = join(folder, 'previous');
    await mkdir(sources);
    const title = await putPreviousSources(sources);
    // Links to each file: what bundles sources names packages by where they are, and would follow a link to the folder.
    await execute('cp', ['-al', join(root, 'node_modules'), join(sources, 'node_modules')]);
    const { toolchain } = stack;
    const images = {
      previous: await ensureOperatorImage(toolchain, { root: sources, tag: 'previous' }),
      current: await ensureOperatorImage(toolchain),
    };
    await stack.loadImages([images.previous, images.current]);
    const release = async (title: string, image: Image, deploy: string): Promise<OperatorRelease> => {
      const operator = await mkdtemp(join(folder, 'operator-'));
      await writeFile(
        join(operator, 'kustomization.yaml'),
        kustomization(relative(operator, join(deploy, 'operator')), image),
      );
      return { title, image, deploy, operator };
    };
    return {
      previous: await release(title, images.previous, join(sources, 'deploy')),
      current: await release('this checkout', images.current, join(root, 'deploy')),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** As who publishes an image chooses its name (docs/development/releasing.md). */
function kustomization(base: string, { reference, digest }: Image): string {
  const annotation = `/spec/template/metadata/annotations/${DIGEST.replace('/', '~1')}`;
  return JSON.stringify({
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [base],
    images: [{ name: 'etcd-operator', newTag: reference.split(':').at(-1) }],
    patches: [
      {
        target: { kind: 'Deployment', name: 'etcd-operator' },
        patch: JSON.stringify([{ op: 'add', path: annotation, value: digest }]),
      },
    ],
  });
}
