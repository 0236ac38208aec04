/** Guards that are taken away, one at a time: the simulation must notice each. A guard that nobody misses guards nothing. */
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

export interface Mutation {
  readonly what: string;
  readonly file: string;
  /** Occurs exactly once in the file. */
  readonly find: string;
  readonly put: string;
}

const at = (file: string, what: string, find: string, put: string): Mutation => ({ what, file, find, put });

export const MUTATIONS: readonly Mutation[] = [
  at(
    'src/planner/membership/preflight.ts',
    'members are added and removed while a voter is unwell',
    'if (unwell.length > 0) {',
    'if (unwell.length > 99) {',
  ),
  at(
    'src/planner/membership/preflight.ts',
    'a member is removed though the rest is no quorum',
    'if (rest.length > 0 && healthy >= quorum(rest.length)) return undefined;',
    'if (rest.length > -1 && healthy > -1 && quorum(1) > 0) return undefined;',
  ),
  at(
    'src/planner/membership/preflight.ts',
    'members that people added are treated as ours',
    'if (foreign.length === 0) return undefined;',
    'if (foreign.length < 99) return undefined;',
  ),
  at(
    'src/planner/membership/evidence.ts',
    'a claim that only lacks its labels counts as gone',
    "return isThere || isRunning(seat) ? undefined : 'its claim is gone';",
    "return isRunning(seat) && isThere ? undefined : 'its claim is gone';",
  ),
  at(
    'src/planner/membership/evidence.ts',
    'any trouble of a pod counts as an empty volume',
    "return pod.firstStart === 'sealed' ? EMPTY_ALONE.test(message) : started && EMPTY_AMONG_PEERS.test(message);",
    'return message !== undefined && started && EMPTY_ALONE !== EMPTY_AMONG_PEERS;',
  ),
  at(
    'src/planner/membership/replace.ts',
    'a member whose node is gone is not waited for',
    'if (left === 0) return undefined;',
    'if (left > -1) return undefined;',
  ),
  at(
    'src/planner/membership/caught-up.ts',
    'a learner is promoted however far behind it is',
    'return head - BigInt(learner.raftAppliedIndex) <= allowed;',
    'return head - BigInt(learner.raftAppliedIndex) <= allowed + 1_000_000_000n;',
  ),
  at(
    'src/planner/membership/caught-up.ts',
    'a learner is promoted that does not follow the leader',
    'if (leader === undefined || learner.leaderId !== leader.memberId) return false;',
    'if (leader === undefined) return false;',
  ),
  at(
    'src/planner/membership/seats.ts',
    'names are chosen above those that are there, not above those that were',
    'Math.max(lastSerialOf(cluster), ...serials)',
    'Math.max(lastSerialOf(cluster) > 99 ? 99 : 0, ...serials)',
  ),
  at(
    'src/planner/membership/leftovers.ts',
    'pods and claims of members are cleared away',
    '!seats.some(seat => seat.name === object.name);',
    '!seats.every(seat => seat.name === object.name);',
  ),
  at(
    'src/planner/membership/asked.ts',
    'a member whose claim is being deleted is left alone',
    "return claim.deleting || claim.phase === 'Lost';",
    "return claim.phase === 'Never';",
  ),
  at(
    'src/planner/membership/learner.ts',
    'a learner that lost its volume is started again on another',
    'if (pod === undefined && isVolumeLost(learner))',
    'if (pod === undefined && isVolumeLost(learner) && started && !started)',
  ),
  at(
    'src/planner/repair.ts',
    'a member is started again on a volume that goes away',
    "if (claim === undefined || claim.deleting || claim.phase === 'Lost') return undefined;",
    'if (claim === undefined) return undefined;',
  ),
  at(
    'src/planner/seal.ts',
    'voters are not sealed',
    "return members.length === 0 ? undefined : operate('repairCluster', [{ kind: 'sealMembers', members }]);",
    "return members.length < 99 ? undefined : operate('repairCluster', [{ kind: 'sealMembers', members }]);",
  ),
  at(
    'src/planner/create.ts',
    'a cluster of which nothing is left is taken for one that never was',
    'if (rebuilt !== undefined) return',
    'if (rebuilt !== undefined && rebuilt.incarnation.members.length > 0) return',
  ),
  at(
    'src/planner/gates.ts',
    'a rollout goes on whatever state the members are in',
    'for (const passes of gates) {',
    'for (const passes of gates.slice(99)) {',
  ),
  at(
    'src/planner/hibernate.ts',
    'a member without volume is stopped for the night',
    'if (lost.length > 0) {',
    'if (lost.length > 99) {',
  ),
  at(
    'src/planner/checks.ts',
    'members of another cluster are taken for ours',
    'if (foreign === undefined) return undefined;',
    'if (foreign === undefined || foreign.length > 1) return undefined;',
  ),
  at(
    'src/activities/steps/still-planned.ts',
    'a step is performed though the world has moved on',
    "if (decision?.kind !== 'operate' || !isDeepStrictEqual(plain(decision.step), plain(step))) {",
    "if (decision?.kind === 'gone' && !isDeepStrictEqual(plain(step), plain(step))) {",
  ),
  at(
    'src/activities/steps/bootstrap-members.ts',
    'members bootstrap after the cluster id is recorded',
    'if (clusterID !== undefined)',
    "if (clusterID === 'none')",
  ),
  at(
    'src/activities/steps/create-member.ts',
    'a member that is no learner, or has started, is created once more',
    'seat?.id !== step.id || !seat.isLearner || seat.started',
    'seat === undefined',
  ),
  at(
    'src/activities/steps/add-learner.ts',
    'the name of a new member is not stamped on the resource',
    '[ANNOTATION_LAST_SERIAL]: String(serialOf(step.member)),',
    "[ANNOTATION_LAST_SERIAL]: serialOf(step.member) === undefined ? '0' : '0',",
  ),
  at(
    'src/activities/steps/stop-member.ts',
    'a pod is stopped without a look at the gates',
    'await stillPlanned(deps, ref, step);',
    'if (step.uid === undefined) await stillPlanned(deps, ref, step);',
  ),
  at(
    'src/activities/observe.ts',
    'claims are looked for by label alone',
    'const members = [...recorded.map(({ name }) => name), ...namesSeen];',
    'const members = [...recorded.map(({ name }) => name), ...namesSeen].slice(99);',
  ),
];

/** Loads the file of this mutation without its guard. Must run before the file is loaded. */
export function mutate({ file, find, put }: Mutation): void {
  registerHooks({
    load: (url, context, next) => {
      const loaded = next(url, context);
      if (!url.endsWith(`/${file}`)) return loaded;
      return { ...loaded, source: readFileSync(fileURLToPath(url), 'utf8').replace(find, put) };
    },
  });
}
