/** The member that a command is led to. Pure. */
import { securityOf } from '../../api/derived/tls.ts';
import { domainOf } from '../../api/derived/domain.ts';
import { clientUrl } from '../../api/names.ts';
import type { EtcdCluster } from '../../api/schemas/types.ts';
import { failure } from '../failure.ts';
import { didYouMean } from '../arguments/suggest.ts';

/** A member that is healthy and ready, otherwise one that is ready; `named` if one is named. @throws Failure when there is none */
export function chosenMember(cluster: EtcdCluster, named?: string): string {
  const { ready = [], details = [] } = cluster.status?.members ?? {};
  const { name } = cluster.metadata;
  const names = details.map(detail => detail.name);
  if (named !== undefined) {
    if (names.includes(named)) return named;
    throw failure(
      `${name} has no member ${named}`,
      ...didYouMean(named, names),
      `Its members are: ${names.join(', ')}`,
    );
  }
  const healthy = details
    .filter(({ health, role }) => health === 'Healthy' && role !== 'Learner')
    .map(detail => detail.name);
  const found = ready.find(member => healthy.includes(member)) ?? ready[0];
  if (found !== undefined) return found;
  throw failure(`${name} has no member that is ready`, `See why with: kubectl etcd status ${name}`);
}

/** Where the server certificate of a member is mounted (src/objects/tls.ts; a test ties the two together). */
const SERVER = '/etc/etcd/tls/server';

/** The arguments by which etcdctl in the pod of a member asks that member, unless the caller names endpoints. */
export function etcdctlArguments(
  cluster: EtcdCluster,
  member: string,
  args: readonly string[],
): readonly string[] {
  const { namespace, name } = cluster.metadata;
  const tls = securityOf(cluster)?.client === true;
  const url = clientUrl({ member, cluster: name, namespace, domain: domainOf(cluster), tls });
  const hasFlag = (flag: string): boolean => args.some(word => word === flag || word.startsWith(`${flag}=`));
  const secure = tls && !hasFlag('--cert');
  return [
    'etcdctl',
    ...(hasFlag('--endpoints') ? [] : [`--endpoints=${url}`]),
    ...(secure ? [`--cacert=${SERVER}/ca.crt`, `--cert=${SERVER}/tls.crt`, `--key=${SERVER}/tls.key`] : []),
    ...args,
  ];
}
