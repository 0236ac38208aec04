/**
 * The conditions that tools read which know no kind in particular (kstatus, and with it Flux and Argo CD; `kubectl wait`): on resources of
 * every kind. What to do stands at the conditions that they sum up. Pure data; see catalogue.ts.
 */
import type { ConditionTable } from './table.ts';

export const READINESS_CONDITIONS = {
  /** Is what was asked for there? */
  Ready: {
    True: {
      AsSpecified: ['The cluster matches the specification, answers, and every member is healthy.'],
      HibernatedAsSpecified: ['The cluster is hibernated as requested.'],
      ScheduleInForce: ['The schedule is in force, and the last backup, if there was one, is good.'],
      SuspendedAsSpecified: ['The schedule is suspended as requested.'],
      Completed: ['What was asked for is done.'],
    },
    False: {
      InProgress: ['The operator is working on it; see the condition Reconciling.'],
      Stopped: ['The operator does not go on before somebody acts; see the condition Stalled.'],
      Held: ['Work remains, and it is paused; see the condition Paused.'],
      ObstacleMet: ['Work remains, and cannot go on now; see the condition Progressing.'],
      NotAvailable: ['Clients cannot read and write; see the condition Available.'],
      NotHealthy: ['A member is not healthy; see the condition Healthy.'],
      LastBackupBad: ['The last backup failed or is not good; see the condition Succeeded.'],
      BackupLate: ['A backup of the schedule is late; see the condition OnSchedule.'],
    },
    Unknown: {
      NotObservedYet: ['The operator has not observed it yet.'],
      MembersNotReached: ['Members could not be reached; see the conditions Available and Healthy.'],
      PassesFail: ['The operator cannot observe it now; see the condition PassFailing.'],
    },
  },
  /** Is the operator working towards the specification? There only while it is. */
  Reconciling: { True: { WorkRemains: ['The operator is working on it, and continues automatically.'] } },
  /** Does the operator wait for somebody to act, or has it given up? There only while that is so. */
  Stalled: {
    True: {
      SpecRefused: ['The specification cannot be carried out.'],
      ApprovalAwaited: ['The next step waits for approval.'],
      DecisionAwaited: ['Nothing is created until a user decides about what a deleted cluster has left.'],
      EverythingIsLost: ['The data of all members is lost.'],
      AlarmStands: ['etcd has raised an alarm that a user must resolve.'],
      GivenUp: ['It has failed or was refused, and is not tried again.'],
    },
  },
} as const satisfies ConditionTable;
