/** Images under the names that they have in a registry of somebody's own, put onto the nodes of a stack: nothing is pulled there. */
import { readFileSync } from 'node:fs';
import { CONTAINERD_SOCKET } from '../../local/stack/node-config.ts';
import type { World } from './e2e.ts';

/** The version of this checkout, which is the tag of its image. */
export const OPERATOR_VERSION: string = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
).version;
/** The operator's image of this checkout, as the nodes have it. */
export const OPERATOR_IMAGE = `docker.io/library/etcd-operator:${OPERATOR_VERSION}`;
export const etcdImage = (version: string): string => `gcr.io/etcd-development/etcd:v${version}`;

/** The digest of an image that the nodes have. It is the same on all of them. */
export async function digestOf(world: World, reference: string): Promise<string> {
  const listed = await ctr(world, 1, 'images', 'ls', `name==${reference}`);
  const [digest] = /sha256:[0-9a-f]{64}/.exec(listed) ?? [];
  if (digest === undefined) throw new Error(`node 1 has no image ${reference}: ${listed}`);
  return digest;
}

/** Gives an image that every node has another name, in the place of what was pushed to a registry and pulled from it. */
export async function carry(world: World, reference: string, as: string): Promise<void> {
  for (const index of world.stack.nodes.keys())
    await ctr(world, index + 1, 'images', 'tag', '--force', reference, as);
}

function ctr({ stack }: World, node: number, ...args: string[]): Promise<string> {
  const containerd = [`--address=${CONTAINERD_SOCKET}`, '--namespace=k8s.io'];
  return stack.node.run(node, stack.toolchain.path('ctr'), ...containerd, ...args);
}
