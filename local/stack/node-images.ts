import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Image } from '../images/index.ts';
import type { StackContext, StoredStack } from './context.ts';
import { save } from './context.ts';
import {
  cloneStore,
  ensureImageStore,
  importImage,
  readImageRecord,
  writeImageRecord,
} from './image-store.ts';
import { CONTAINERD_SOCKET } from './node-config.ts';
import { isRunning } from './processes.ts';

/** The folder of a node's containerd root and of the record of its images. */
export function nodeStore(context: StoredStack, index: number): string {
  return join(context.layout.nodeDirectory(index), 'images');
}

/** Gives every new node its images, all at once; a node that has some already keeps them. */
export async function prepareStores(context: StackContext): Promise<void> {
  const fresh = context.state.nodes.filter(node => !existsSync(nodeStore(context, node.index)));
  if (fresh.length === 0) return;
  await context.progress.step('images for the nodes', async report => {
    const store = await ensureImageStore(context.toolchain, context.state.images, report);
    for (const node of fresh) await cloneStore(store, nodeStore(context, node.index));
  });
}

/** Path on the host of the containerd socket inside a running node. */
function socketOf(context: StackContext, index: number): string | undefined {
  const node = context.state.nodes.find(found => found.index === index);
  const running = isRunning(context.state.processes[`node-${index}`]);
  return running && node?.init !== undefined ? `/proc/${node.init}/root${CONTAINERD_SOCKET}` : undefined;
}

/** Imports into a running node those of its stack's images whose digest it does not hold. */
export async function refreshNodeImages(context: StackContext, index: number): Promise<string[]> {
  const socket = socketOf(context, index);
  if (socket === undefined) return [];
  const store = nodeStore(context, index);
  const record = readImageRecord(store);
  const missing = context.state.images.filter(({ reference, digest }) => record[reference] !== digest);
  for (const image of missing) {
    await importImage(context.toolchain, socket, image);
    record[image.reference] = image.digest;
    writeImageRecord(store, record);
  }
  return missing.map(image => image.reference);
}

/** Adds images to what the stack's nodes shall hold; an image of the same reference replaces the older one. */
export function wantImages(context: StackContext, images: readonly Image[]): void {
  const added = new Set(images.map(image => image.reference));
  const kept = context.state.images.filter(image => !added.has(image.reference));
  context.state.images = [
    ...kept,
    ...images.map(({ reference, archive, digest }) => ({ reference, archive, digest })),
  ];
  save(context);
}

/**
 * Brings the stack's images to every running node, two nodes at a time, and says what each node got. Stopped
 * nodes get theirs when they start.
 */
export async function refreshAllNodes(context: StackContext): Promise<Map<number, string[]>> {
  const loaded = new Map<number, string[]>();
  const waiting = context.state.nodes.map(node => node.index);
  const worker = async (): Promise<void> => {
    for (let index = waiting.shift(); index !== undefined; index = waiting.shift()) {
      loaded.set(index, await refreshNodeImages(context, index));
    }
  };
  await Promise.all([worker(), worker()]);
  return loaded;
}
