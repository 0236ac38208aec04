/**
 * Activities that follow a script instead of looking at a world: they plan the steps that are left, and a performed step is
 * left no more. For tests of workflows, which hold no knowledge of etcd or Kubernetes either.
 */
import type { RepairInPass } from '../../src/planner/operations/repair/in-pass.ts';
import { ApplicationFailure } from '@temporalio/activity';
import {
  type Activities,
  type WorkflowState,
  type Assessment,
  createActivities,
  type Decision,
  type Dependencies,
  type Operation,
  type Step,
} from '../../src/activities/index.ts';
import type { PassFailureReport } from '../../src/activities/resource/pass-failure.ts';
import type { WaitOutcome } from '../../src/activities/runtime/poll.ts';
import { withHeartbeat } from '../../src/activities/runtime/heartbeat.ts';
import type { Consent } from '../../src/planner/model/decision.ts';
import type { UserRequest } from '../../src/planner/model/workflow-state.ts';
import type { Verdict } from '../../src/planner/requests/judge.ts';
import { planned, timingOf } from '../../src/planner/model/step-catalogue.ts';
import type { StepTiming } from '../../src/planner/model/steps/row.ts';

const TOKEN = 'example-5d1c7f20-1';
const MEMBERS = ['example-0', 'example-1', 'example-2'];

/** The steps of a creation, as the planner would plan them. */
export const CREATION: readonly Step[] = [
  {
    kind: 'recordIncarnation',
    incarnation: { token: TOKEN, members: MEMBERS.map(name => ({ name, peerURL: `http://${name}:2380` })) },
    storage: { kind: 'PersistentVolumeClaim' },
  },
  { kind: 'bootstrapMembers', token: TOKEN, members: MEMBERS, version: '3.6.16' },
  { kind: 'awaitQuorum', token: TOKEN, members: MEMBERS },
  { kind: 'recordClusterId', token: TOKEN, elected: { clusterId: 'c0ffee', members: [] } },
  { kind: 'ensureObjects', objects: ['clientService'] },
  { kind: 'awaitMembers', members: MEMBERS },
];

export const REPAIR: readonly Step[] = MEMBERS.map(member => ({
  kind: 'restartMember',
  token: TOKEN,
  member,
  claimUid: `claim-of-${member}`,
}));

export const DELETION: readonly Step[] = [
  { kind: 'deletePods', pods: MEMBERS.map(name => ({ name, uid: `pod-${name}` })) },
  { kind: 'releaseClaims', claims: MEMBERS.map(name => ({ name, uid: `claim-of-${name}` })) },
  { kind: 'removeFinalizer' },
];

/** What happens instead of a step; it counts as performed only when this resolves. */
export type Behaviour = () => Promise<void>;

/** The world that the scripted activities stand for, and what was done to it. */
export class Script {
  operation: Operation = 'createCluster';
  /** What is left to be done. */
  remaining: Step[] = [];
  /** The resource does not exist any more. */
  gone = false;
  generation = 1;
  /** How often to look when there is nothing to do. */
  idleSeconds = 600;
  /** Kinds of steps, in the order in which attempts at them began. */
  readonly started: Step['kind'][] = [];
  /** Kinds of steps, in the order in which they were performed. */
  readonly performed: Step['kind'][] = [];
  /** What the workflows said that users asked for, one entry a pass. */
  readonly workflowStates: WorkflowState[] = [];
  /** The runs of operations that the workflows named, one entry a pass. */
  readonly runs: WorkflowState['ran'][] = [];
  /** Steps that are still to be done after they were performed. */
  readonly stubborn = new Set<Step['kind']>();
  readonly behaviours = new Map<Step['kind'], Behaviour>();
  /** Shorter times than those of the catalogue. */
  timing: Partial<StepTiming> = {};
  /** What was asked for, where that can be asked for again. */
  subject: string | undefined;
  /** What the next step needs a person's consent to. */
  consent: Consent | undefined;
  /** What passes say of requests. */
  judge: (request: UserRequest) => Verdict = ({ id }) => ({ id, outcome: 'refused', message: 'no' });
  /** Passes repair by themselves what the workflow lets them. */
  passesRepair = false;
  /** What was reported of passes that failed. */
  readonly reported: PassFailureReport[] = [];
  /** Runs before every pass. */
  beforePass: Behaviour = async () => {};

  plan(operation: Operation, steps: readonly Step[]): void {
    this.operation = operation;
    this.remaining = [...steps];
  }

  /** Makes the next performances of a step fail; after them it goes well again. */
  fail(kind: Step['kind'], failures: readonly Error[]): void {
    const left = [...failures];
    this.behaviours.set(kind, async () => {
      const failure = left.shift();
      if (failure !== undefined) throw failure;
    });
  }

  /** Holds a step until the returned function is called. */
  hold(kind: Step['kind']): () => void {
    let release = (): void => {};
    const released = new Promise<void>(resolve => (release = resolve));
    this.behaviours.set(kind, () => released);
    return release;
  }

  /** What a pass repairs by itself. */
  repair({ mayRepair }: WorkflowState): RepairInPass | undefined {
    const [step] = this.remaining;
    if (!this.passesRepair || mayRepair !== 'all' || step?.kind !== 'applyObjects') return undefined;
    this.remaining.shift();
    return step;
  }

  decide(workflowState: WorkflowState): Decision {
    const [step] = this.remaining;
    if (this.gone) return { kind: 'gone' };
    if (step === undefined) return { kind: 'idle', nextPassSeconds: this.idleSeconds };
    const plan = this.remaining.map(planned);
    const timing = { ...timingOf(step), ...this.timing };
    const stop = this.#stop(workflowState);
    if (stop !== undefined) {
      return {
        kind: 'blocked',
        reason: stop,
        message: `it is ${stop}`,
        nextPassSeconds: this.idleSeconds,
        plan,
      };
    }
    const subject = this.subject === undefined ? {} : { subject: this.subject };
    if (this.consent === undefined)
      return { kind: 'operate', operation: this.operation, step, timing, plan, ...subject };
    const { consent } = this;
    const approval = workflowState.approvals?.find(({ ids }) => ids.join() === consent.ids.join());
    return approval === undefined
      ? {
          kind: 'blocked',
          reason: 'AwaitingApproval',
          message: 'a person is asked',
          nextPassSeconds: this.idleSeconds,
          plan,
          consent,
        }
      : {
          kind: 'operate',
          operation: this.operation,
          step,
          timing,
          plan,
          approval: approval.id,
        };
  }

  /** The same reasons as the planner's, in its order. */
  #stop({ paused, aborted, failed }: WorkflowState): 'Paused' | 'Aborted' | 'StepFailed' | undefined {
    if (paused !== undefined) return 'Paused';
    if (aborted?.operation === this.operation && aborted.generation === this.generation) return 'Aborted';
    return failed?.operation === this.operation ? 'StepFailed' : undefined;
  }

  summary(workflowState: WorkflowState): Assessment['summary'] {
    const done = this.remaining.length === 0;
    const decision = this.decide(workflowState);
    return {
      phase: done ? 'Running' : 'Creating',
      version: '3.6.16',
      size: 3,
      membersReady: done ? 3 : 0,
      healthy: done,
      paused: workflowState.paused !== undefined,
      ...(decision.kind === 'blocked' && { attention: decision.reason }),
      members: [],
      conditions: [],
    };
  }
}

/** What the next step of `approvedRepair` waits for. */
export const CONSENT = { operation: 'repairCluster', ids: ['8e9e05c5'] } as const;

/** A creation, from its first step on. */
export function creation(): Script {
  const script = new Script();
  script.plan('createCluster', CREATION);
  return script;
}

/** A repair of which each step waits for a person. */
export function approvedRepair(): Script {
  const script = new Script();
  script.plan('repairCluster', REPAIR);
  script.consent = CONSENT;
  return script;
}

/** A failure as activities throw it when the world has moved. */
export const moved = (message: string) => ApplicationFailure.nonRetryable(message, 'PreconditionChanged');
/** A failure as activities throw it when the API server says no. */
export const refused = (message: string) => ApplicationFailure.nonRetryable(message, 'Forbidden');

/** All activities there are, over a script, with the heartbeats of the real ones. */
export function scriptedActivities(script: Script): Activities {
  const perform = async (kind: Step['kind']): Promise<WaitOutcome> => {
    script.started.push(kind);
    await script.behaviours.get(kind)?.();
    if (script.stubborn.has(kind)) return kind.startsWith('await') ? 'notYet' : 'done';
    if (script.remaining[0]?.kind === kind) script.remaining.shift();
    script.performed.push(kind);
    if (kind === 'removeFinalizer') script.gone = true;
    return 'done';
  };
  const assess = async (
    _ref: unknown,
    { workflowState }: { readonly workflowState: WorkflowState },
  ): Promise<Assessment> => {
    await script.beforePass();
    const { ran, mayRepair: _, used: __, takesOver: ___, ...asked } = workflowState;
    script.runs.push(ran);
    script.workflowStates.push(asked);
    const repaired = script.repair(workflowState);
    const decision = script.decide(workflowState);
    if (decision.kind === 'gone') return { decision, generation: 0, summary: undefined };
    const verdicts = workflowState.requests?.map(script.judge);
    return {
      decision,
      generation: script.generation,
      summary: script.summary(workflowState),
      ...(verdicts && { verdicts }),
      ...(repaired && { repaired }),
    };
  };
  const steps = NAMES.map(name => [name, () => perform(name as Step['kind'])] as const);
  const reportPassFailure = async (_ref: unknown, report: PassFailureReport): Promise<void> => {
    script.reported.push(report);
  };
  const recordRequests = async () => ({ ends: false });
  const all = { ...Object.fromEntries(steps), assess, reportPassFailure, recordRequests };
  const beat = Object.entries(all).map(([name, activity]) => [
    name,
    withHeartbeat(activity as () => Promise<unknown>, error => error),
  ]);
  return Object.fromEntries(beat) as unknown as Activities;
}

/** The names of the real ones; none of them is called. */
const NAMES = Object.keys(createActivities({} as Dependencies));
