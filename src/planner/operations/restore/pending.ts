import { type ConditionFinding, finding } from '../../../api/conditions/catalogue.ts';
import type { Decision } from '../../model/decision.ts';
import type { Situation } from '../../model/situation.ts';
import { whyNotAccepted } from '../../checks/restore-acceptance.ts';
import { givenUpWords } from '../../checks/kept-incarnation.ts';
import type { RestoreOfCluster } from '../../model/restore-of-cluster.ts';

const TYPE = 'RestorePending';

/** Which EtcdRestores of this cluster have not begun, and why; nothing when there are none. */
export function restorePending(situation: Situation, decision: Decision): ConditionFinding[] {
  const { cluster, restores = [] } = situation;
  if (cluster.deleting) return [];
  // What it comes from has ended, also while the EtcdRestore does not say so yet: nobody is to confirm that its data goes.
  const begun = [
    cluster.status.incarnation?.restore?.uid,
    decision.kind === 'operate' ? decision.subject : undefined,
  ];
  const pending = restores.filter(({ uid }) => !begun.includes(uid));
  if (pending.length === 0) return [];
  const words = pending.map(restore => statusOf(situation, restore));
  const isRefused = words.every(({ refused }) => refused);
  return [finding(TYPE, isRefused ? 'Refused' : 'Waiting', words.map(({ text }) => text).join('; '))];
}

/** Its own pass may not have said so yet. */
function statusOf(
  situation: Situation,
  restore: RestoreOfCluster,
): { readonly text: string; readonly refused: boolean } {
  const { name, step = 'the operator has not checked it yet' } = restore;
  const judged = whyNotAccepted(situation, restore);
  if (judged?.kind === 'refused')
    return { text: `EtcdRestore ${name} is refused (${judged.reason}): ${judged.message}`, refused: true };
  const loss = restore.incarnation === undefined ? '' : `; when it begins, ${givenUpWords(situation)}`;
  return { text: `EtcdRestore ${name} waits: ${judged?.message ?? step}${loss}`, refused: false };
}
