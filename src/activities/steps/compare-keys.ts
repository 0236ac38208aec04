import { Context } from '@temporalio/activity';
import { LABEL_CLUSTER } from '../../api/names.ts';
import { timestamp } from '../../api/values/time.ts';
import type { KeyHashes } from '../../api/schemas/types.ts';
import { retryOnConflict } from '../resource/custom-resource.ts';
import type { StepOf } from '../../planner/model/step-catalogue.ts';
import type { PodFacts } from '../../planner/model/observation.ts';
import type { HeartbeatDetails } from '../runtime/heartbeat.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { areComparable, hashMembers } from '../cluster/key-hashes.ts';
import { POD } from '../runtime/kinds.ts';
import { podFacts } from '../observe/pod-facts.ts';
import { readLivingCluster, recordStatus } from '../resource/etcd-cluster.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import { clientAccess, readTlsSecrets } from '../observe/certificate-secrets.ts';
import { stillPlanned } from './shared/still-planned.ts';

/** So often members are asked that a compaction came between. */
const ROUNDS = 3;
/** Milliseconds between two looks at whether they are still the same members. */
const CHECK_MS = 2_000;

type Doing = { readonly ref: ClusterRef; readonly step: StepOf<'compareKeys'> };

/**
 * Has every member hash its keys up to one revision, for as long as that takes, and records what they answer. Fails with
 * PreconditionChanged as soon as a pod or container of a member is another one or is about to go: what it answers then is about
 * nobody. While it lasts, the heartbeat says how many have answered.
 */
export async function compareKeys(
  deps: Dependencies,
  heartbeatDetails: HeartbeatDetails,
  { ref, step }: Doing,
): Promise<void> {
  const { cluster, situation } = await stillPlanned(deps, ref, step);
  const pods = situation.pods.filter(pod => step.members.some(({ uid }) => uid === pod.uid));
  const { name, namespace, config } = situation.cluster;
  const access = clientAccess(await readTlsSecrets(deps.kube, cluster));
  const address = { name, namespace, domain: config.pod.ClusterDomain, access };
  const ending = new AbortController();
  const signal = AbortSignal.any([ending.signal, Context.current().cancellationSignal]);
  const answered = (count: number): void => {
    heartbeatDetails.message = `hashing members: ${count} of ${pods.length} have answered`;
  };
  const hashing = async () => {
    for (let round = 1; ; round += 1) {
      const said = await hashMembers(deps.etcd, address, { pods, answered, signal });
      if (round >= ROUNDS || areComparable(said.members)) return said;
    }
  };
  try {
    const { revision, members } = await Promise.race([hashing(), untilChanged(deps, ref, { pods, signal })]);
    await checkSame(deps, ref, pods);
    await record(deps, ref, {
      comparedAt: timestamp(deps.now()),
      revision,
      members: members.map(answer => ({ ...identityOf(pods, answer.name), ...answer })),
    });
  } finally {
    ending.abort();
  }
}

function identityOf(pods: readonly PodFacts[], name: string) {
  const { uid = '', container } = pods.find(pod => pod.name === name) ?? {};
  return { name, podUID: uid, ...(container !== undefined && { container }) };
}

/** The resource may have changed while the members were reading: nothing of that makes their answers others. */
async function record(deps: Dependencies, ref: ClusterRef, keyHashes: KeyHashes): Promise<void> {
  await retryOnConflict(async () => {
    await recordStatus(deps.kube, await readLivingCluster(deps.kube, ref), { keyHashes });
  });
}

/** Rejects when a member is another process than it was. Ends, too, when nobody waits for it any more. */
async function untilChanged(
  deps: Dependencies,
  ref: ClusterRef,
  { pods, signal }: { readonly pods: readonly PodFacts[]; readonly signal: AbortSignal },
): Promise<never> {
  for (;;) {
    await deps.time.pause(CHECK_MS, signal);
    await checkSame(deps, ref, pods);
  }
}

async function checkSame(deps: Dependencies, ref: ClusterRef, pods: readonly PodFacts[]): Promise<void> {
  const { items } = await deps.kube.list(POD, {
    namespace: ref.namespace,
    labelSelector: `${LABEL_CLUSTER}=${ref.name}`,
  });
  const now = items.map(pod => podFacts(pod, ref.uid));
  const changed = pods.find(
    ({ uid, container }) => !now.some(pod => pod.uid === uid && pod.container === container && !pod.deleting),
  );
  if (changed !== undefined)
    throw preconditionChanged(`${changed.name} was restarted or stopped while it computed its hash`);
}
