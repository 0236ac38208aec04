/**
 * A cluster's whole life, in which users terminate, cancel and reset its workflows in the middle of everything that
 * workflows.drill.test.ts leaves out: creation, repair, upgrade, hibernation, waking and deletion.
 */
import { afterAll, describe, expect, test } from 'vitest';
import type { EtcdClusterSpec } from '../../../src/api/schemas/types.ts';
import { ASKING_FOR_CPU } from '../../stack/drill/drilled.ts';
import { runDrill } from '../../stack/drill/drill.ts';
import { openOperations } from '../../stack/drill/operations.ts';
import { STRIKES } from '../../stack/drill/strike.ts';
import {
  awaitCondition,
  awaitRunning,
  claimsOf,
  discard,
  manifest,
  podsOf,
  readCluster,
  type World,
} from '../../stack/e2e.ts';
import { useNamespace } from '../../stack/e2e-namespace.ts';
import { poll } from '../../stack/poll.ts';

const NAMESPACE = 'drill-life';
const OLD = '3.5.35';
const NEW = '3.6.16';
const WAIT = { timeoutMs: 180_000 };
let world: World;

useNamespace(NAMESPACE, opened => void (world = opened));

describe.each(STRIKES)('$verb of the workflow of the $on', ({ verb, on }) => {
  const at = { namespace: NAMESPACE, name: `${verb}-${on}` };
  const apply = (spec: EtcdClusterSpec) =>
    world.kube.apply(manifest(NAMESPACE, at.name, { size: 3, pod: ASKING_FOR_CPU, ...spec }));
  const claims = async () =>
    (await claimsOf(world, NAMESPACE, at.name)).map(({ metadata }) => metadata.uid).sort();
  const etcdctl = (...args: string[]) =>
    world.stack.kubectl('-n', NAMESPACE, 'exec', `${at.name}-0`, '--', 'etcdctl', ...args);
  let disks: readonly (string | undefined)[] = [];

  afterAll(() => discard(world, NAMESPACE, at.name));

  /** Begins something and strikes when its first step is behind it. */
  async function struck(operation: string, begin: () => Promise<unknown>): Promise<void> {
    const workflow = async () => (await readCluster(world, NAMESPACE, at.name))?.status?.workflowID;
    const isNew = (await workflow()) === undefined;
    if (isNew) await begin();
    await poll(workflow);
    const operations = await openOperations(world, at);
    const before = isNew ? undefined : await operations.newest();
    if (!isNew) await begin();
    const run = await operations.await(
      operation,
      before,
      ({ isOver, completed }) => !isOver && completed.some(name => name !== 'assess'),
    );
    await operations.act(verb, on, run);
    // To cancel is to abort: nothing continues until somebody says so.
    if (verb === 'cancel') {
      await awaitCondition(world, at, { type: 'Progressing', status: 'False' });
      await operations.signal('resync');
    }
    await operations.close();
  }

  test('createCluster', async () => {
    await struck('createCluster', () => apply({ version: OLD }));
    await awaitRunning(world, at, 180_000);
    expect(await podsOf(world, NAMESPACE, at.name)).toHaveLength(3);
    disks = await claims();
    expect(disks).toHaveLength(3);
    await etcdctl('put', 'kept', 'through everything');
  });

  test('repairCluster', async () => {
    await runDrill({ world, at, size: 3, title: `${verb} of the ${on} in repairCluster` }, () =>
      struck('repairCluster', () =>
        world.stack.kubectl('-n', NAMESPACE, 'delete', 'pod', `${at.name}-1`, '--wait=false'),
      ),
    );
  });

  test('upgradeCluster', async () => {
    await runDrill({ world, at, size: 3, title: `${verb} of the ${on} in upgradeCluster` }, async () => {
      await struck('upgradeCluster', () => apply({ version: NEW }));
      await poll(async () => {
        const { status } = (await readCluster(world, NAMESPACE, at.name)) ?? {};
        return status?.members?.details?.every(({ version }) => version === NEW);
      }, WAIT);
    });
    expect(await claims()).toEqual(disks);
  });

  test('hibernateCluster', async () => {
    await struck('hibernateCluster', () => apply({ version: NEW, hibernated: true }));
    await poll(async () => (await podsOf(world, NAMESPACE, at.name)).length === 0, WAIT);
    await awaitCondition(world, at, { type: 'Available', status: 'False' });
    expect(await claims()).toEqual(disks);
  });

  test('wakeCluster', async () => {
    await struck('wakeCluster', () => apply({ version: NEW, hibernated: false }));
    await awaitRunning(world, at, 180_000);
    expect(await claims()).toEqual(disks);
    expect((await etcdctl('get', 'kept', '--print-value-only')).trim()).toBe('through everything');
  });

  test('deleteCluster', async () => {
    await struck('deleteCluster', () => discard(world, NAMESPACE, at.name));
    await poll(
      async () =>
        (await readCluster(world, NAMESPACE, at.name)) === undefined &&
        (await podsOf(world, NAMESPACE, at.name)).length + (await claims()).length === 0,
      {
        ...WAIT,
        otherwise: async () =>
          JSON.stringify((await readCluster(world, NAMESPACE, at.name))?.status?.conditions, null, 1),
      },
    );
  });
});
