/** Leading clients to members and away from them: by the label that the client Service selects pods by. */
import { Context } from '@temporalio/activity';
import { CLIENTS_ADMITTED, CLIENTS_WITHDRAWN, LABEL_CLIENTS } from '../../api/names.ts';
import type { KubeObject } from '../../kube/port.ts';
import type { Step } from '../../planner/decision.ts';
import type { Dependencies } from '../dependencies.ts';
import { POD } from '../observe.ts';
import { time } from '../poll.ts';
import type { ClusterRef } from '../resource.ts';

/** How long every node may take to hear of a change of endpoints. */
const HEARD_MS = 1_000;

/** Leads clients to these very pods (by uid) again. Doing it twice changes nothing. */
export async function admitMembers(
  deps: Dependencies,
  { namespace }: ClusterRef,
  step: Extract<Step, { kind: 'admitMembers' }>,
): Promise<void> {
  for (const { name, uid } of step.pods) await label(deps, { namespace, name, uid }, CLIENTS_ADMITTED);
}

/**
 * Leads new clients away from a pod that is about to be stopped, and gives that time to be heard of: whoever is sent off by its
 * end and connects again meets another member. Stops nobody, and is taken back when nobody is stopped (planner/admission.ts).
 */
export async function withdraw(
  deps: Dependencies,
  { namespace }: ClusterRef,
  pod: KubeObject,
): Promise<void> {
  const { name, uid = '' } = pod.metadata;
  await label(deps, { namespace, name, uid }, CLIENTS_WITHDRAWN);
  await time.pause(HEARD_MS, Context.current().cancellationSignal);
}

async function label(
  deps: Dependencies,
  { namespace, name, uid }: { readonly namespace: string; readonly name: string; readonly uid: string },
  clients: string,
): Promise<void> {
  const metadata = { uid, labels: { [LABEL_CLIENTS]: clients } };
  await deps.kube.patch({ ...POD, namespace, name }, { metadata }, { type: 'merge' });
}
