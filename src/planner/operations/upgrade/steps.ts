/** The steps of an upgrade: one member to another version, and what is left of a hop. */
import { minorOf } from '../../../api/versions/compare.ts';
import type { Step } from '../../model/decision.ts';
import type { PodFacts } from '../../model/observation.ts';
import type { Situation } from '../../model/situation.ts';
import { changesBesidesImage } from '../../checks/pod-changes.ts';
import { usableClaim } from '../../checks/missing-pods.ts';
import { transferLeadership, restart } from '../rollout/next-member.ts';
import type { Goal } from '../../model/upgrade-goal.ts';
import { downgradeStep } from './descent.ts';
import { fromFormerImage } from './former-image.ts';
import { goesDown } from './goal.ts';
import { awaitsExtraRestart, waitingPods } from './pods.ts';
import { needsExtraRestart } from './extra-restart.ts';

/** Everything that is left of this hop, and a word on those that follow. */
export function laterSteps(situation: Situation, goal: Goal): Step[] {
  const first = downgradeStep(situation, goal);
  const waiting = waitingPods(situation, goal);
  const names = waiting.map(pod => pod.name);
  const steps = waiting.flatMap((pod, index) => [
    ...transferLeadership(situation, names, pod.name),
    ...move(situation, pod, { from: goal.from, to: goal.to, isLast: index === waiting.length - 1 }),
  ]);
  const minor = minorOf(goal.to) ?? '';
  const members = situation.members.map(({ name }) => name);
  const agree: Step[] = minorOf(goal.from) === minor ? [] : [{ kind: 'awaitAgreement', members, minor }];
  return [...(first === undefined ? [] : [first]), ...steps, ...agree];
}

/** One member to another version: in its pod where only the image differs, else in a new pod on its volume. */
export function move(
  situation: Situation,
  pod: PodFacts,
  {
    from,
    to,
    isLast,
    goesBack = false,
  }: { readonly from: string; readonly to: string; readonly isLast: boolean; readonly goesBack?: boolean },
): Step[] {
  const warning = isLast ? pointOfNoReturn(from, to) : undefined;
  const because = `from ${from} to ${to}${warning === undefined ? '' : `, ${warning}`}`;
  const { name: member, uid } = pod;
  const inPlace = changesBesidesImage(situation, pod, to).length === 0;
  const image = goesBack ? fromFormerImage(situation, member, to) : {};
  const settle = needsExtraRestart(from, to);
  if (inPlace && !awaitsExtraRestart(pod, from, to)) {
    return [
      { kind: 'replaceImage', member, uid, version: to, ...image, because },
      { kind: 'awaitVersion', member, version: to },
    ];
  }
  const claimUid = usableClaim(situation, member)?.uid ?? '';
  const why = settle
    ? `one more restart with ${from}, which removes the data that ${minorOf(to)} cannot read`
    : because;
  const stop = (next: { readonly version: string; readonly image?: string }): Step => {
    return { kind: 'stopMember', member, uid, claimUid, purpose: 'upgrade', next, because: why };
  };
  if (!settle) {
    const next = { version: to, ...image };
    return [stop(next), ...startAgain(situation, member, next)];
  }
  return [
    stop({ version: from }),
    ...startAgain(situation, member, { version: from, settledIn: minorOf(from) }),
    { kind: 'replaceImage', member, uid: 'as made', version: to, because },
    { kind: 'awaitVersion', member, version: to },
  ];
}

export function startAgain(
  situation: Situation,
  member: string,
  {
    version,
    image,
    settledIn,
  }: {
    readonly version: string;
    readonly image?: string | undefined;
    readonly settledIn?: string | undefined;
  },
): Step[] {
  return restart(situation, member).map(step =>
    step.kind === 'restartMember'
      ? {
          ...step,
          version,
          ...(image !== undefined && { image }),
          ...(settledIn !== undefined && { settledIn }),
        }
      : { kind: 'awaitVersion', member, version },
  );
}

/** What users must know before the last member of a minor; undefined within a minor. */
export function pointOfNoReturn(from: string, to: string): string | undefined {
  const minor = minorOf(to);
  if (goesDown({ from, to }))
    return `the end of the downgrade: after this step it cannot be cancelled any more, and the way back to ${minorOf(from)} is an upgrade`;
  return minorOf(from) === minor
    ? undefined
    : `the point of no return: after this step no member can return to ${minorOf(from)}`;
}
