/** An upgrade to a version and from a repository that are both wrong: back to the image that ran, and on when they are corrected. */
import { expect, test } from 'vitest';
import type { EtcdClusterSpec } from '../../../src/api/schemas/types.ts';
import { containerNamed, ETCD_CONTAINER } from '../../../src/objects/containers.ts';
import { awaitRunning, manifest, podsOf, readCluster, type World } from '../../stack/e2e.ts';
import { useNamespace } from '../../stack/e2e-namespace.ts';
import { poll } from '../../stack/poll.ts';

const NAMESPACE = 'upgrade-repository';
const NAME = 'moved';
const AT = { namespace: NAMESPACE, name: NAME };
const GOOD = 'gcr.io/etcd-development/etcd';
const WRONG = 'registry.invalid/etcd';
let world: World;

useNamespace(NAMESPACE, opened => void (world = opened));

const conditions = async () => (await readCluster(world, NAMESPACE, NAME))?.status?.conditions ?? [];
const edit = (spec: EtcdClusterSpec) =>
  world.stack.kubectl('-n', NAMESPACE, 'patch', 'etcd', NAME, '--type=merge', '-p', JSON.stringify({ spec }));

async function images(): Promise<string[]> {
  const pods = await podsOf(world, NAMESPACE, NAME);
  return [...new Set(pods.map(pod => containerNamed(pod, ETCD_CONTAINER)?.image ?? ''))];
}

/** Everything that was said on the way. */
const reported = new Set<string>();

/** Waits until the upgrade has failed with this version, and every member runs and is ready with the image that ran before. */
async function isTakenBack(failed: string): Promise<void> {
  await poll(
    async () => {
      const now = await conditions();
      for (const { message = '' } of now) reported.add(message);
      const isSaid = now.some(({ message }) => message?.includes(failed) === true);
      const isBlocked = now.some(({ type, reason }) => type === 'Progressing' && reason === 'Blocked');
      const { status } = (await readCluster(world, NAMESPACE, NAME)) ?? {};
      return isSaid && isBlocked && status?.ready === '3/3' && (await images()).join() === `${GOOD}:v3.6.5`;
    },
    {
      timeoutMs: 300_000,
      intervalMs: 500,
      otherwise: async () => JSON.stringify([await images(), [...reported], await conditions()], null, 1),
    },
  );
}

test('a version that does not exist from a registry that does not: the way back is the image that ran, and a correction is taken up', async () => {
  await world.kube.apply(manifest(NAMESPACE, NAME, { size: 3, version: '3.6.5', repository: GOOD }));
  await awaitRunning(world, AT);
  const start = Date.now();
  const tell = (what: string) => console.log(`${what} after ${(Date.now() - start) / 1_000} s`);

  await edit({ version: '3.6.99', repository: WRONG });
  await isTakenBack(`${WRONG}:v3.6.99`);
  tell('taken back');
  // The repository alone is put back: the version is tried again from there.
  await edit({ repository: GOOD });
  await isTakenBack(`${GOOD}:v3.6.99`);
  tell('taken back again');
  await edit({ version: '3.6.16' });
  await poll(async () => (await images()).join() === `${GOOD}:v3.6.16`, {
    timeoutMs: 300_000,
    otherwise: async () => JSON.stringify([await images(), await conditions()], null, 1),
  });
  await awaitRunning(world, AT);
  tell('upgraded');
  console.log([...reported].join('\n'));
  for (const message of reported) expect(message).not.toMatch(/restore the backup/);
}, 900_000);
