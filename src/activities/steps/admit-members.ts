/** Leading clients to members and away from them: by the label that the client Service selects pods by. */
import { Context } from '@temporalio/activity';
import { ANNOTATION_WITHDRAWN, CLIENTS_ADMITTED, CLIENTS_WITHDRAWN, LABEL_CLIENTS } from '../../api/names.ts';
import { parseTimestamp } from '../../api/values/time.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { POD } from '../runtime/kinds.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import type { Perform } from './shared/perform.ts';

/** How long every node may take to hear of a change of endpoints. */
const HEARD_MS = 1_000;

/** Leads clients to these very pods (by uid) again. Doing it twice changes nothing. */
export const admitMembers: Perform<'admitMembers'> = async (deps, { namespace }, step) => {
  for (const { name, uid } of step.pods) await admit(deps, { namespace, name, uid });
};

/** Leads clients to a pod, if it is still that one. */
export async function admit(deps: Dependencies, pod: At): Promise<void> {
  await label(deps, pod, { clients: CLIENTS_ADMITTED });
}

/**
 * Leads new clients away from pods that are about to be stopped, and gives that time to take effect: a client that is sent off by the end
 * of one and connects again meets another member. Stops nobody, and is taken back when nobody is stopped
 * (planner/operations/repair/client-routing.ts). Nothing is waited for that was waited for already; the first one is the next to be stopped.
 */
export async function withdraw(
  deps: Dependencies,
  { namespace }: ClusterRef,
  pods: readonly { readonly name: string; readonly uid?: string }[],
): Promise<void> {
  const [first] = await Promise.all(pods.map(({ name, uid = '' }) => lead(deps, { namespace, name, uid })));
  const heardMs = Math.max(0, deps.now() - (first ?? deps.now()));
  if (heardMs < HEARD_MS) await deps.time.pause(HEARD_MS - heardMs, Context.current().cancellationSignal);
}

/** Leads clients away from one pod, if it is still that one; since when they are, in milliseconds since the epoch. */
async function lead(deps: Dependencies, at: At): Promise<number> {
  const pod = await deps.kube.get({ ...POD, namespace: at.namespace, name: at.name });
  if (pod?.metadata.uid !== at.uid) return deps.now();
  const { labels, annotations } = pod.metadata;
  const since = parseTimestamp(annotations?.[ANNOTATION_WITHDRAWN]);
  if (labels?.[LABEL_CLIENTS] === CLIENTS_WITHDRAWN && since !== undefined) return since;
  const now = deps.now();
  await label(deps, at, { clients: CLIENTS_WITHDRAWN, since: now });
  return now;
}

interface At {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

async function label(deps: Dependencies, { namespace, name, uid }: At, marks: Marks): Promise<void> {
  const { clients, since } = marks;
  const annotations = since === undefined ? {} : { [ANNOTATION_WITHDRAWN]: new Date(since).toISOString() };
  const metadata = { uid, labels: { [LABEL_CLIENTS]: clients }, annotations };
  await deps.kube.patch({ ...POD, namespace, name }, { metadata }, { type: 'merge' });
}

interface Marks {
  readonly clients: typeof CLIENTS_ADMITTED | typeof CLIENTS_WITHDRAWN;
  readonly since?: number;
}
