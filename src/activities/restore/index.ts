/** The activities of restores: the pass and the steps of an EtcdRestore, and the steps of its cluster. */
import type { Step } from '../../planner/model/decision.ts';
import type { RestoreStep } from '../../planner/restore/resource.ts';
import { backupFailure } from '../backup/failure.ts';
import { beating } from '../runtime/heartbeat.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { passFailure, stepFailure } from '../runtime/failures.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import { assessRestore } from './assess.ts';
import { createRestored, examineBackup } from './begin.ts';
import {
  abandonRestore,
  concludeRestore,
  fenceMembers,
  revertRestore,
  switchIncarnation,
} from './incarnation.ts';
import { requestRestore } from './request.ts';
import type { RestoreRef } from '../resource/etcd-restore.ts';
import { disarmAlarms, fillVolume, startSeed, unpackBackup } from './seeding.ts';

type StepOf<Kind extends Step['kind']> = Extract<Step, { kind: Kind }>;

/** As `createActivities`, of which they are a part. */
export function restoreActivities(deps: Dependencies) {
  const step = <Kind extends Step['kind'], Result>(
    perform: (deps: Dependencies, ref: ClusterRef, step: StepOf<Kind>) => Promise<Result>,
  ) => beating((ref: ClusterRef, of: StepOf<Kind>) => perform(deps, ref, of), stepFailure);
  return {
    assessRestore: beating(
      (ref: RestoreRef, context: Parameters<typeof assessRestore>[2]) => assessRestore(deps, ref, context),
      passFailure,
    ),
    examineBackup: beating(
      (ref: RestoreRef, of: Extract<RestoreStep, { kind: 'examineBackup' }>) => examineBackup(deps, ref, of),
      backupFailure,
    ),
    createRestored: beating((ref: RestoreRef) => createRestored(deps, ref), stepFailure),
    fenceMembers: step<'fenceMembers', string>(fenceMembers),
    switchIncarnation: step<'switchIncarnation', void>(switchIncarnation),
    fillVolume: beating(
      (ref: ClusterRef, of: StepOf<'fillVolume'>) => fillVolume(deps, ref, of),
      backupFailure,
    ),
    unpackBackup: step<'unpackBackup', string>(unpackBackup),
    disarmAlarms: step<'disarmAlarms', void>(disarmAlarms),
    requestRestore: step<'requestRestore', void>(requestRestore),
    startSeed: step<'startSeed', void>(startSeed),
    concludeRestore: step<'concludeRestore', void>(concludeRestore),
    abandonRestore: step<'abandonRestore', void>(abandonRestore),
    revertRestore: step<'revertRestore', void>(revertRestore),
  };
}
