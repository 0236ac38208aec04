/**
 * The domain of a cluster whose status was lost is not guessed: members know each other by URLs that end in it, and are found and
 * trusted by them. Who a quorum lists, or else where the pods are, is compared with what is stamped on the resource and asked for; as
 * long as that contradicts, nothing is recorded, started or issued. Pure.
 */
import { domainFault, domainIn, stampedDomain } from '../../../api/derived/domain.ts';
import { ANNOTATION_DOMAIN } from '../../../api/names.ts';
import { withDefaults } from '../../../api/defaults/etcd-cluster.ts';
import { blocked, type Decision } from '../../model/decision.ts';
import type { ClusterFacts, Observation } from '../../model/observation.ts';

/** Undefined when a status is recorded, and when nothing speaks against the domain that is gone by. */
export function planLostDomain(observation: Observation): Decision | undefined {
  const { cluster } = observation;
  const fault = cluster.status.incarnation === undefined ? contradiction(observation) : undefined;
  return fault === undefined ? undefined : blocked({ reason: 'DomainChanged', message: fault });
}

function contradiction(observation: Observation): string | undefined {
  const { object, config } = observation.cluster;
  const asked = withDefaults(object.spec).pod.ClusterDomain;
  const { ClusterDomain: taken } = config.pod;
  const seen = domainsSeen(observation);
  const other = seen.find(domain => domain !== taken);
  const remove = `remove the annotation ${ANNOTATION_DOMAIN} from EtcdCluster ${object.metadata.namespace}/${object.metadata.name}`;
  if (other !== undefined && stampedDomain(object) === undefined) return domainFault(asked, other);
  if (other !== undefined)
    return `the URLs of the members do not end with the domain in the annotation ${ANNOTATION_DOMAIN}, which has been changed: ${remove}`;
  // Nobody is there to ask which of the two is right.
  return seen.length > 0 || asked === taken
    ? undefined
    : `${domainFault(asked, taken)}. The domain comes from an annotation; if the annotation has been changed, ${remove}`;
}

/** As the members that a quorum lists have it, else as the pods were started with. */
function domainsSeen({ cluster, membership, pods }: Observation): string[] {
  const listed = membership.known ? membership.members.flatMap(({ peerUrls }) => peerUrls) : [];
  const started = pods.filter(({ owned }) => owned).map(({ peerUrl }) => peerUrl ?? '');
  const certain = domainsIn(listed, cluster);
  return certain.length > 0 ? certain : domainsIn(started, cluster);
}

function domainsIn(urls: readonly string[], { name, namespace }: ClusterFacts): string[] {
  return urls.filter(url => url.includes(`.${name}.${namespace}.svc`)).flatMap(url => domainIn(url) ?? []);
}
