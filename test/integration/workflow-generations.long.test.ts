/** The operator replaced by another generation of the workflows, and back, in the middle of every operation. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BackupOperation } from '../../src/activities/index.ts';
import { OPERATION_NAMES } from '../../src/api/operations.ts';
import { replaceDuringBackup, replaceDuringRestore, REPLACED_BACKUPS } from '../worlds/replaced-backups.ts';
import { REPLACED_OPERATIONS } from '../worlds/replaced-operations.ts';
import { replaceOperator } from '../worlds/replaced-operator.ts';
import { WorkflowBench } from '../worlds/workflow-bench.ts';

let bench: WorkflowBench;
beforeAll(async () => {
  bench = await WorkflowBench.start();
}, 300_000);
afterAll(() => bench.stop());

it('no operation is forgotten', () => {
  expect(Object.keys(REPLACED_OPERATIONS).toSorted()).toEqual([...OPERATION_NAMES].toSorted());
});

describe.concurrent.each(OPERATION_NAMES)('%s', operation => {
  it.each(REPLACED_OPERATIONS[operation])(
    '$title: a pause and an approval outlive two changes of the generation, and it ends as it should',
    row => replaceOperator(bench, operation, row),
  );
});

describe.concurrent.each(Object.keys(REPLACED_BACKUPS) as BackupOperation[])('%s', operation => {
  it.each(REPLACED_BACKUPS[operation])(
    '$title: a pause outlives two changes of the generation, and it ends as it should',
    row => replaceDuringBackup(bench, operation, row),
  );
});

it('a restore makes its cluster once, though the generation changes before and after', () =>
  replaceDuringRestore(bench));
