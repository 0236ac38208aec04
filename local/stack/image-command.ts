import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Image } from '../images/index.ts';
import { ensureImages, ensureOperatorImage } from '../images/index.ts';
import { createProgress } from '../progress.ts';
import type { CommandInput } from './context.ts';
import { openStack } from './stack.ts';

async function archiveImage(path: string): Promise<Image> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return { reference: basename(path), archive: resolve(path), digest: `sha256:${hash.digest('hex')}` };
}

/** `image load [REF...]`: references of this project's images, or paths of image archives; none means all. */
export async function loadByReference(input: CommandInput): Promise<void> {
  const [verb, ...references] = input.words;
  if (verb !== 'load') throw new Error('use: image load [REF...]');
  const progress = createProgress();
  try {
    const stack = await openStack(input.name);
    const archives = await Promise.all(references.filter(existsSync).map(archiveImage));
    const named = references.filter(reference => !existsSync(reference));
    const images = [...archives];
    if (named.length > 0 || references.length === 0) {
      const known = await ensureImages(stack.toolchain, { progress });
      const isKnown = (reference: string): boolean => known.some(image => image.reference === reference);
      const needsOperator = references.length === 0 || !named.every(isKnown);
      const all = needsOperator
        ? [...known, await ensureOperatorImage(stack.toolchain, { progress })]
        : known;
      const missing = named.filter(reference => !all.some(image => image.reference === reference));
      if (missing.length > 0) {
        const names = all.map(image => image.reference).join(', ');
        throw new Error(
          `no image ${missing.join(', ')}; there are ${names}, and any image archive by its path`,
        );
      }
      images.push(...all.filter(image => references.length === 0 || named.includes(image.reference)));
    }
    const loaded = await progress.step('load images', () => stack.loadImages(images));
    progress.note(loaded.length === 0 ? 'every node has them already' : `loaded ${loaded.join(', ')}`);
  } finally {
    progress.close();
  }
}
