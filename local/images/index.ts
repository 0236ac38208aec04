import type { Progress } from '../progress.ts';
import { artefactPath, isInstalled } from '../toolchain/cache.ts';
import { installAll, type Toolchain } from '../toolchain/index.ts';
import { type Image, readImage } from './archive.ts';
import { imageRecipes } from './recipes.ts';

export type { Image } from './archive.ts';
export { ensureOperatorImage } from './operator.ts';

export interface ImageOptions {
  /** Default: a view on standard error. */
  progress?: Progress;
  /** Only the images with these references; default all. */
  only?: string[];
}

/**
 * Makes sure that the images of the local stack are in the cache, built without docker: pause, every etcd
 * version, Temporal, and a busybox for tests. Throws when one cannot be built or `only` names an unknown one.
 */
export async function ensureImages(toolchain: Toolchain, options: ImageOptions = {}): Promise<Image[]> {
  const all = imageRecipes(toolchain);
  const wanted = options.only?.map(reference => {
    const recipe = all.find(candidate => candidate.reference === reference);
    if (recipe !== undefined) return recipe;
    throw new Error(
      `there is no image ${reference}; there are ${all.map(known => known.reference).join(', ')}`,
    );
  });
  const recipes = wanted ?? all;
  const missing = recipes.filter(recipe => !isInstalled(recipe.artefact));
  if (missing.length > 0) await installAll(missing, options.progress);
  return Promise.all(recipes.map(recipe => readImage(artefactPath(recipe.artefact))));
}
