/** What an EtcdBackup adds to the engine's entity and to its interpreter of operations. Pure. */
import type { BackupActor, BackupAssessment, BackupDecision } from '../../activities/index.ts';
import type { Kind, Rules } from '../engine/entity.ts';
import type { ControlLike, OperationRules, Outcome } from '../engine/operation.ts';
import type { BackupEnding } from '../messages/backup.ts';
import type { Request } from '../../api/values/requests.ts';
import {
  actorOf,
  type BackupMessage,
  type BackupPeople,
  type BackupRunning,
  afterOperation,
  afterMessage,
  afterPass,
  forgetExpired,
  stopFor,
} from './people.ts';

export interface BackupKind extends Kind {
  readonly People: BackupPeople;
  readonly Actor: BackupActor;
  readonly Assessment: BackupAssessment;
  readonly Decision: Extract<BackupDecision, { kind: 'operate' }>;
  readonly Running: BackupRunning;
  readonly Ending: BackupEnding;
  readonly Message: BackupMessage;
  readonly Signal: Request;
}

export const backupRules: Rules<BackupKind> = {
  backoff: { firstMs: 10_000, maxMs: 600_000 },
  slot: 'child',
  // An edit is seen at once while a backup runs, and a deletion ends it.
  looksWhileOperating: true,
  checksBy: 'look',
  forgetExpired,
  actor: actorOf,
  // The planner holds back what may wait; letting a resource go it plans again at once.
  isHeldBack: ({ failed }, { operation }) => operation === 'releaseBackup' && failed?.operation === operation,
  // What is recorded in the resource need not be asked for again.
  onStarted: (people, { isRequested, verifies }) => {
    if (verifies === undefined) return isRequested ? { ...people, requested: undefined } : people;
    const wanted = (people.wanted ?? []).filter(({ uid }) => uid !== verifies);
    return { ...people, wanted, verifying: verifies };
  },
  isFailure: ({ outcome }) => outcome === 'failed',

  next({ assessment }, now) {
    if (assessment === undefined) return { kind: 'rest', until: now };
    const { decision } = assessment;
    if (decision.kind === 'gone') return decision;
    if (decision.kind !== 'operate') return { kind: 'rest', until: now + decision.nextLookSeconds * 1_000 };
    const { operation, step } = decision;
    const isRequested = 'requestedBy' in step;
    const verifies = 'request' in step ? { verifies: step.request } : {};
    return { kind: 'operate', decision, running: { operation, isRequested, ...verifies } };
  },

  onPass({ people, running, assessment }) {
    if (assessment === undefined) return { people };
    const known = afterPass(people, assessment);
    if (running === undefined) return { people: known };
    return { people: { ...known, stop: undefined }, signal: stopFor(people, running, assessment) };
  },

  onMessage: (view, message) => ({
    people: afterMessage(view, message),
    dirty: true,
    resetsBackoff: message.kind === 'resync',
  }),

  onCancel({ people, running }) {
    if (running === undefined) return { people };
    return { people: { ...people, stop: { by: 'cancellation of the workflow' } }, dirty: true };
  },

  onEnded: afterOperation,
};

export interface BackupRun extends BackupKind {
  readonly Control: ControlLike;
}

/** Unlike those of clusters these steps can be ended in the middle: what a snapshot leaves then is nothing. */
export const backupRunRules: OperationRules<BackupRun> = {
  interrupts: true,
  handsBack: false,
  countsRepeats: false,
  countsUndone: () => false,
  // Only the entity passes on what people asked for.
  actor: () => ({ isOperation: true }),
  next({ operation }, { decision: next }) {
    const goesOn = next.kind === 'operate' && next.operation === operation;
    return goesOn && next.step.kind !== 'beginBackup' ? next : undefined;
  },
  isOver: ({ operation }) => operation === 'pruneBackups' || operation === 'verifyStoredBackup',
  summary: ({ summary }) => summary,
};

/** How it ended, and which run it was about. */
export function endingOf(
  { operation, step }: BackupRun['Decision'],
  { outcome, message, by }: Outcome,
): BackupEnding {
  return {
    operation,
    ...('startedAt' in step && { startedAt: step.startedAt }),
    ...('request' in step && { startedAt: step.request }),
    // A run of a backup is never handed back: its rules say so.
    outcome: outcome === 'handedBack' ? 'ended' : outcome,
    ...(message !== undefined && { message }),
    ...(by !== undefined && { by }),
  };
}
