/**
 * Replacement of a member whose data differs: removed first, as one whose data is lost, because a successor that is added before may be filled
 * from it while it leads. The majority's side is never removed; without a majority only a member that a person names is. Pure.
 */
import { blocked, type Decision, type Obstacle, operate, type Step } from '../../model/decision.ts';
import { consentTo } from '../../checks/consent.ts';
import { doubtfulOf, isFresh, sidesText, verdictOf } from '../../checks/corruption.ts';
import { refusesToStart, type Verdict, votersOf } from '../../checks/data-verdict.ts';
import { mostLevel, successorOf } from '../../checks/next-leader.ts';
import { noForeignMembers, noPodTerminating, quorumSurvivesRemoval } from '../../checks/preflight.ts';
import { isHealthy, type MemberView, withoutCorrupt } from '../../model/member-view.ts';
import { identify } from '../../model/steps/row.ts';
import type { Situation } from '../../model/situation.ts';
import { memberToReplace } from './departing.ts';

const OPERATION = 'replaceMember';

type Differing = Extract<Verdict, { kind: 'differs' | 'undecided' }>;
type ByMajority = Extract<Verdict, { kind: 'differs' }>;

/** What is looked at before every replacement (replace.ts). */
export interface Replacing {
  readonly successorMayCome: (situation: Situation, views: readonly MemberView[]) => Obstacle | undefined;
  readonly tooManyThisHour: (situation: Situation, view: MemberView) => Obstacle | undefined;
}

/** The removal of a member whose data differs; undefined when none does, or a person has to say which. */
export function planCorruptMember(
  situation: Situation,
  views: readonly MemberView[],
  checks: Replacing,
): Decision | undefined {
  const found = verdictOf(situation);
  if (found.kind !== 'differs' && found.kind !== 'undecided') return undefined;
  const verdict = saidByPerson(situation, found);
  const candidate = candidateOf(verdict, memberToReplace(situation));
  if (candidate === undefined) return planOfMajority(situation, verdict);
  const removal = removalOf(situation, views, { view: candidate, verdict });
  const obstacle =
    noForeignMembers(views) ??
    othersAreHealthy(verdict, candidate, views) ??
    quorumSurvivesRemoval(goodOf(verdict, candidate, views), candidate) ??
    checks.successorMayCome(situation, views);
  if (obstacle !== undefined) return blocked(obstacle, [removal]);
  const tooMany = checks.tooManyThisHour(situation, candidate);
  return whenAllowed(situation, verdict, { candidate, removal, tooMany });
}

/** A person who names one of the majority that was found to differ before says that the majority is wrong: then it decides nothing. */
function saidByPerson(situation: Situation, verdict: Differing): Differing {
  if (verdict.kind === 'undecided') return verdict;
  const asked = memberToReplace(situation);
  const isDoubted = doubtfulOf(situation, verdict.majority).some(({ id }) => id === asked?.id);
  return isDoubted ? { kind: 'undecided', sides: verdict.sides } : verdict;
}

/** Somebody asked to have one replaced that is right. */
function planOfMajority(situation: Situation, { kind, sides }: Differing): Decision | undefined {
  const asked = memberToReplace(situation);
  if (asked === undefined || kind === 'undecided') return undefined;
  return blocked({
    reason: 'DataDiffers',
    message: `${asked.name} is not replaced: it has the data of the majority, ${sidesText(situation, sides)}`,
  });
}

interface Removal {
  readonly candidate: MemberView;
  readonly removal: Step;
  /** Why the policy alone does not let it go. */
  readonly tooMany: Obstacle | undefined;
}

/** By policy, because a person named it, or by an approval. */
function whenAllowed(situation: Situation, verdict: Differing, removing: Removal): Decision {
  const { candidate, removal, tooMany } = removing;
  const steps = prepared(situation, verdict, removing);
  const isAsked = candidate.id === memberToReplace(situation)?.id;
  // Where nobody knows who differs only a member that a person names is a candidate.
  if (isAsked || verdict.kind === 'undecided' || isByPolicy(situation, verdict, tooMany))
    return operate(OPERATION, steps);
  const found = `${candidate.name} does not have the data of the others, ${sidesText(situation, verdict.sides)}; it would be removed, its volume kept, and another member added`;
  const doubt = doubtText(situation, verdict, candidate);
  const why = {
    reason: 'CorruptMember',
    message: [found, ...doubt].join('; '),
  } as const;
  const answer = consentTo(situation, { operation: OPERATION, ids: [candidate.id] }, why);
  if ('obstacle' in answer) return blocked(answer.obstacle, [removal]);
  // Only the removal itself uses the approval up.
  return operate(OPERATION, steps, steps[0] === removal ? answer.approval : undefined);
}

/** Of those that differ the one that a person names, else the first; where nobody knows who differs only that one. */
function candidateOf(verdict: Differing, asked: MemberView | undefined): MemberView | undefined {
  const among = verdict.kind === 'differs' ? verdict.differing : verdict.sides.flatMap(({ views }) => views);
  const named = among.find(({ id }) => id === asked?.id);
  if (named !== undefined || asked !== undefined) return named;
  return verdict.kind === 'differs' ? among.find(({ ours }) => ours) : undefined;
}

/**
 * `repair.corruption`, unless so many members were replaced lately that something else is wrong, or one of the majority was found to differ
 * before: what it holds may have come to the others by a snapshot of it.
 */
function isByPolicy(situation: Situation, verdict: ByMajority, tooMany: Obstacle | undefined): boolean {
  return (
    situation.cluster.config.repair.corruption === 'Replace' &&
    tooMany === undefined &&
    doubtfulOf(situation, verdict.majority).length === 0
  );
}

/** Why a person should look before the majority is believed. */
function doubtText(situation: Situation, { majority }: ByMajority, { name }: MemberView): readonly string[] {
  const doubtful = doubtfulOf(situation, majority);
  if (doubtful.length === 0) return [];
  const names = doubtful.map(view => view.name).join(', ');
  return [
    `${names} is of the majority and was found to differ before, so the majority may be wrong: approve only if ${name} is wrong; otherwise have ${names} replaced, with an EtcdRequest or kubectl etcd replace ${situation.cluster.name} MEMBER`,
  ];
}

/** Those that are right, or may be, and the one that goes. */
function goodOf(
  verdict: Differing,
  candidate: MemberView,
  views: readonly MemberView[],
): readonly MemberView[] {
  const differing = verdict.kind === 'differs' ? verdict.differing : [candidate];
  return views.map(view => {
    const isBad = differing.some(({ id }) => id === view.id);
    return isBad && view.id !== candidate.id ? { ...view, probe: undefined } : withoutCorrupt(view);
  });
}

/** Those that hold the same are well, and stay. */
export function othersAreHealthy(
  verdict: Differing,
  candidate: MemberView,
  views: readonly MemberView[],
): Obstacle | undefined {
  const differing = verdict.kind === 'differs' ? verdict.differing : [candidate];
  const rest = views.filter(({ id, isLearner }) => !isLearner && !differing.some(view => view.id === id));
  // One that refuses to start may do so because of the one that goes.
  const unwell = rest.filter(view => !isHealthy(withoutCorrupt(view)) && !refusesToStart(view));
  if (unwell.length === 0) return noPodTerminating(rest);
  const names = unwell.map(({ name }) => name).join(', ');
  return {
    reason: 'MembersUnhealthy',
    message: `${candidate.name}, whose data differs, is not removed until ${names} is known to be healthy`,
  };
}

function removalOf(
  situation: Situation,
  views: readonly MemberView[],
  { view, verdict }: { readonly view: MemberView; readonly verdict: Differing },
): Step {
  return {
    kind: 'removeMember',
    member: view.name,
    id: view.id,
    expected: views.map(({ id }) => id),
    reason: `its data differs, ${sidesText(situation, verdict.sides)}`.slice(0, 1_000),
    replacement: 'Corrupt',
  };
}

/** Compared again when that is some minutes ago, and led by one that stays. */
function prepared(
  situation: Situation,
  verdict: Differing,
  { candidate, removal }: Pick<Removal, 'candidate' | 'removal'>,
): Step[] {
  const bad = verdict.kind === 'differs' ? verdict.differing : [candidate];
  const rest = votersOf(situation)
    .filter(({ id }) => !bad.some(view => view.id === id))
    .map(withoutCorrupt);
  // Where all of the others were found to differ before, a person has said that it is not they.
  const next = () =>
    successorOf(situation, candidate.name, { views: rest }) ?? mostLevel(rest, candidate.name);
  const to = bad.some(({ leads }) => leads) ? next() : undefined;
  const from = bad.find(({ leads }) => leads)?.name ?? candidate.name;
  return [
    ...comparing(situation),
    ...(to === undefined ? [] : [{ kind: 'moveLeader' as const, from, to: to.name, toId: to.id }]),
    removal,
  ];
}

/** The step that compares the voters that answer, where what they said last does not hold any more. */
export function comparing(situation: Situation): Step[] {
  return isFresh(situation) ? [] : comparison(situation);
}

/** The step that compares the voters that answer; none where nobody does. */
export function comparison(situation: Situation): Step[] {
  const pods = votersOf(situation).flatMap(({ name, pod, probe }) =>
    pod === undefined || probe === undefined ? [] : [{ name, uid: pod.uid }],
  );
  return pods.length === 0 ? [] : [{ kind: 'compareKeys', members: identify(pods) }];
}
