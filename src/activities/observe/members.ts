/** What a step knows that depends on the members alone: their pods, their claims, and what they say. Reads only. */
import type { EtcdCluster } from '../../api/schemas/types.ts';
import type { KubeObject } from '../../kube/port.ts';
import { hasEnded } from '../../planner/model/member-names.ts';
import type { Observation } from '../../planner/model/observation.ts';
import { CLAIM, POD } from '../runtime/kinds.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import type { ClusterRef } from '../runtime/cluster-reference.ts';
import { domainOf } from '../../api/derived/domain.ts';
import { readCluster } from '../resource/read-cluster.ts';
import { clientAccess, readTlsSecrets } from './certificate-secrets.ts';
import { claimFacts } from './claim-facts.ts';
import { findObjects } from './cluster-objects.ts';
import { clusterFacts, expectedIdOf, observe, recordedNames, withoutSettings } from './observe.ts';
import { podFacts } from './pod-facts.ts';
import { probeMembers } from './probe.ts';

export type MembersObserved = Pick<
  Observation,
  'cluster' | 'pods' | 'claims' | 'probes' | 'membership' | 'expectedClusterId'
>;

/**
 * Looks at the members of a cluster whose identity is recorded, and at nothing else: a step that is not planned again makes sure of
 * what it depends on with a third of the calls of a pass. Undefined when the resource is gone.
 * @param names members that are looked for by name besides those that are recorded
 */
export async function observeMembers(
  { kube, etcd, now, clockAheadMs }: Pick<Dependencies, 'kube' | 'etcd' | 'now' | 'clockAheadMs'>,
  ref: ClusterRef,
  names: readonly string[],
): Promise<{ readonly cluster: EtcdCluster; readonly observation: MembersObserved } | undefined> {
  const object = await readCluster(kube, ref);
  if (object === undefined) return undefined;
  // What is in force of a specification of which nothing is recorded follows from more than the members.
  if (withoutSettings(object)) return observe({ kube, etcd, now, clockAheadMs }, ref);
  const cluster = clusterFacts(object);
  const { namespace, name, uid } = cluster;
  const of = { namespace, name, names: [...recordedNames(cluster), ...names] };
  const hasClaims = cluster.status.storage?.kind === 'PersistentVolumeClaim';
  const [pods, claims, secrets] = await Promise.all([
    findObjects(kube, POD, of).then(found => found.map(pod => podFacts(pod, uid, name))),
    hasClaims ? findObjects(kube, CLAIM, of) : ([] as KubeObject[]),
    readTlsSecrets(kube, object),
  ]);
  const asked = pods.filter(pod => pod.owned && !hasEnded(pod));
  const address = { name, namespace, domain: domainOf(object), access: clientAccess(secrets) };
  const observed = {
    cluster,
    pods,
    claims: claims.map(claim => claimFacts(claim, cluster)),
    ...(await probeMembers(etcd, address, asked)),
  };
  return { cluster: object, observation: { ...observed, expectedClusterId: expectedIdOf(observed) } };
}
