import type { Image } from '../images/index.ts';
import * as images from '../images/index.ts';
import type { Progress } from '../progress.ts';
import type { Toolchain } from '../toolchain/index.ts';

type EnsureOne = (toolchain: Toolchain, options: { progress: Progress }) => Promise<Image>;

/** The operator's image, built from the checkout unless the cache has it. */
export async function ensureOperatorImage(
  toolchain: Toolchain,
  options: { progress: Progress },
): Promise<Image> {
  const found = (images as unknown as Record<string, EnsureOne | undefined>)['ensureOperatorImage'];
  if (found === undefined)
    throw new Error('this checkout cannot build the operator image; use --no-operator-image');
  return found(toolchain, options);
}
