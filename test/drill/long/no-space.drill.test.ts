/** A database that is as large as its quota: what is said, that a larger quota alone does not end the alarm, and that the command of the message does. */
import { beforeAll, expect, test } from 'vitest';
import { BackupStory } from '../../stack/backup-story.ts';
import { ASKING_FOR_CPU } from '../../stack/drill/drilled.ts';
import { awaitCondition, awaitRunning, manifest, readCluster, type World } from '../../stack/e2e.ts';
import { useNamespace } from '../../stack/e2e-namespace.ts';
import { poll } from '../../stack/poll.ts';

const namespace = 'drill-no-space';
const name = 'full';
const at = { namespace, name };
const PATIENCE_MS = 180_000;

let world: World;
let story: BackupStory;
useNamespace(namespace, opened => void (world = opened));
beforeAll(async () => {
  story = new BackupStory(world, namespace);
  await apply('16Mi');
  await awaitRunning(world, at, PATIENCE_MS);
});

const apply = (quotaBackendBytes: string) =>
  world.kube.apply(
    manifest(namespace, name, {
      size: 3,
      version: '3.6.16',
      pod: ASKING_FOR_CPU,
      etcd: { quotaBackendBytes },
    }),
  );
const conditionOf = async (type: string) =>
  (await readCluster(world, namespace, name))?.status?.conditions?.find(each => each.type === type);
const put = () =>
  story.through(name, async etcd => void (await etcd.put('large').value('x'.repeat(1 << 18))));
const isRefused = () =>
  put().then(
    () => undefined,
    () => true as const,
  );

/** Waits until the condition's message has these words, and answers it. */
const said = (type: string, words: RegExp): Promise<string> =>
  poll(
    async () => {
      const { message = '' } = (await conditionOf(type)) ?? {};
      return words.test(message) ? message : undefined;
    },
    {
      timeoutMs: PATIENCE_MS,
      otherwise: async () => JSON.stringify((await readCluster(world, namespace, name))?.status?.conditions),
    },
  );

test('NOSPACE is reported with the commands that end it, and a raised quota alone does not', async () => {
  await poll(isRefused, { timeoutMs: PATIENCE_MS });
  const full = await said('Healthy', /NOSPACE/);
  console.log(full);
  const { members } = (await readCluster(world, namespace, name))?.status ?? {};
  const ids = members?.details?.map(({ id = '' }) => id) ?? [];
  const [, id = ''] = /alarm NOSPACE of member ([0-9a-f]+)/.exec(full) ?? [];
  expect(ids).toContain(id);
  expect(await conditionOf('QuorumAtRisk')).toBeUndefined();

  await apply('64Mi');
  const waits = await said('Progressing', /^every member runs with the new settings, but alarm NOSPACE/);
  console.log(waits);
  expect(await isRefused()).toBe(true);
  const [, command = ''] = /(?:: )kubectl (.*etcdctl alarm disarm)$/.exec(waits) ?? [];
  await world.stack.kubectl(...command.split(' '));
  await awaitCondition(world, at, { type: 'Healthy' });
  await put();
  await said('Progressing', /^(?!every member)/);
  expect((await conditionOf('Progressing'))?.reason).toBe('AsSpecified');
  const { history = [] } = (await readCluster(world, namespace, name))?.status ?? {};
  expect(history[0]).toMatchObject({ type: 'rolloutCluster', outcome: 'Succeeded' });
}, 600_000);
