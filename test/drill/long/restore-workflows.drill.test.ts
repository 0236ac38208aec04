/** Workflows that users terminate, cancel and reset in the middle of a restore in place. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RestoreDrill, restored, takenBack } from '../../stack/drill/restore-drill.ts';
import { STRIKES } from '../../stack/drill/strike.ts';
import { readCluster } from '../../stack/e2e.ts';

let drill: RestoreDrill;

beforeAll(async () => {
  drill = await RestoreDrill.on('drill-restore-workflows');
}, 300_000);
afterAll(() => drill?.close());

/** The new incarnation is recorded and its volume is being filled; nothing is lost yet that could not be taken back. */
const MIDDLE = 'switchIncarnation';

test.each(STRIKES)(
  '$verb of the workflow of the $on of the cluster',
  async ({ verb, on }) => {
    const { operations } = drill;
    const before = await operations.newest();
    const title = `${verb} of the ${on} of the cluster in restoreCluster`;
    const struck = async () => operations.act(verb, on, await drill.completed(before, MIDDLE));
    // To cancel is to abort.
    if (verb === 'cancel') await takenBack(drill, { title, by: 'cancellation of the workflow' }, struck);
    else await restored(drill, title, struck);
  },
  600_000,
);

test.each(['terminate', 'cancel', 'reset'] as const)(
  '%s of the workflow of the EtcdRestore, while the backup is examined and in the middle',
  async verb => {
    const { operations, restores } = drill;
    const before = await operations.newest();
    await restored(drill, `${verb} of the EtcdRestore's workflow, twice`, async name => {
      const { status } = await restores.until(name, ({ phase }) => phase === 'Validating');
      const workflowId = status?.workflowID ?? '';
      await operations.strikeNow(verb, workflowId);
      expect((await restores.read('EtcdRestore', name))?.status).not.toMatchObject({ succeeded: true });
      await drill.completed(before, MIDDLE);
      await operations.strikeNow(verb, workflowId);
    });
    // Whatever became of its workflow, the cluster knows of no restore that is not over.
    const cluster = await readCluster(drill.world, drill.at.namespace, drill.at.name);
    expect(cluster?.status?.incarnation?.restore?.completedAt).toBeDefined();
  },
  600_000,
);
