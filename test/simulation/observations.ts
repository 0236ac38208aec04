/** Has the planner decide on generated observations, and the oracle judge what it would do. */
import * as fc from 'fast-check';
import type { Decision } from '../../src/planner/model/decision.ts';
import { plan } from '../../src/planner/plan.ts';
import { observedMembers } from '../../src/planner/report/members.ts';
import { statusOf } from '../../src/planner/report/status.ts';
import { type Generated, generated } from './generated-observations.ts';
import { forbidden } from './oracle.ts';
import { situationOf } from '../../src/planner/situation.ts';
import { messageOf } from '../../src/api/values/message-of.ts';

export interface Judged {
  readonly observations: number;
  readonly seconds: number;
  /** How often each step was decided upon, and each reason to do nothing. */
  readonly counts: ReadonlyMap<string, number>;
  /** How often each fault was found, when they are all to be. */
  readonly faults: ReadonlyMap<string, number>;
  /** The smallest observation that was found for the first failure, what would be done, and why it must not. */
  readonly failure:
    | { readonly text: string; readonly path: string; readonly generated: Generated }
    | undefined;
}

export interface Judging {
  /** Of a failure, to begin with it. */
  readonly path?: string | undefined;
  /** Goes on after a failure, and counts. */
  readonly keep?: boolean;
  /** Leaves the first that fails as it was found: it is enough that there is one. */
  readonly asFound?: boolean;
}

/** So many observations of a seed. The first that fails is made as small as it can be: each field as in a cluster that is well. */
export function judgeObservations(
  numRuns: number,
  seed: number,
  { path, keep = false, asFound = false }: Judging = {},
): Judged {
  const counts = new Map<string, number>();
  const faults = new Map<string, number>();
  const count = (of: Map<string, number>, what: string) => of.set(what, (of.get(what) ?? 0) + 1);
  const begun = performance.now();
  const property = fc.property(generated, ({ observation, workflowState }) => {
    const text = faultText({ observation, workflowState }, what => count(counts, what));
    if (text === undefined) return;
    count(faults, text.replaceAll(/example-\d+/g, 'a member'));
    if (!keep) throw new Error(text);
  });
  const result = fc.check(property, {
    numRuns,
    seed,
    endOnFailure: asFound,
    ...(path !== undefined && { path }),
  });
  const [found] = result.counterexample ?? [];
  return {
    observations: result.numRuns,
    seconds: (performance.now() - begun) / 1_000,
    counts,
    faults,
    failure: found && {
      text: messageOf(result.errorInstance),
      path: result.counterexamplePath ?? '',
      generated: found,
    },
  };
}

/** What is wrong with the decision, or what was thrown instead of one; undefined when nothing is. */
function faultText(of: Generated, onDecision: (what: string) => void): string | undefined {
  try {
    const decision = plan(of.observation, of.workflowState);
    const what = nameOf(decision);
    onDecision(what);
    const fault = faultOf(of, decision);
    return fault === undefined ? undefined : `${what}: ${fault}`;
  } catch (error) {
    return messageOf(error);
  }
}

/** Why the decision must not be; undefined when nothing speaks against it. What is recorded of it must be reported, too. */
function faultOf({ observation, workflowState }: Generated, decision: Decision): string | undefined {
  const situation = situationOf(observation, workflowState);
  statusOf(
    { situation, decision, members: observedMembers(situation) },
    { workflowId: 'w', now: new Date(observation.now).toISOString() },
  );
  return decision.kind === 'operate' ? forbidden(observation, workflowState, decision) : undefined;
}

function nameOf(decision: Decision): string {
  if (decision.kind === 'operate') return `${decision.operation} ${decision.step.kind}`;
  return decision.kind === 'blocked' ? `blocked ${decision.reason}` : decision.kind;
}

/** What of a failure is not as in a cluster that is well, for the developer who has to understand it. */
export function describeFailure({
  text,
  path,
  generated: { observation, workflowState },
}: NonNullable<Judged['failure']>): string {
  const { cluster, pods, claims, probes, membership, restores, hashes } = observation;
  const withoutStamps = pods.map(pod => ({ ...pod, stamp: undefined, madeFrom: undefined }));
  const parts = {
    spec: cluster.object.spec,
    annotations: cluster.object.metadata.annotations,
    status: cluster.status,
    pods: withoutStamps,
    claims,
    probes,
    membership,
    restores,
    hashes,
    users: workflowState,
  };
  const reported = Object.entries(parts).flatMap(([name, part]) =>
    (Array.isArray(part) ? part : [part]).map((each: unknown) => `  ${name}: ${JSON.stringify(each)}`),
  );
  return [text, ...reported, `path ${path}`].join('\n');
}
