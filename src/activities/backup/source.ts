/** Opens the member that a snapshot is taken from: looked for, asked, and read from linearizably first. */
import { domainOf } from '../../api/derived/domain.ts';
import { ANNOTATION_HOSTS, API_VERSION, LABEL_CLUSTER } from '../../api/names.ts';
import { secretKeys } from '../../api/derived/tls.ts';
import type { EtcdBackup, EtcdCluster } from '../../api/schemas/types.ts';
import { type ClientTls, type Credentials, EtcdError, type EtcdMember } from '../../etcd/port.ts';
import { clusterOfBackup, parseEndpoint } from '../../api/derived/endpoints.ts';
import {
  endpointsByPreference,
  type SourceCandidate,
  sourcesByPreference,
} from '../../planner/backup/source.ts';
import { AllowedAddresses } from '../../store/addresses.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { asCluster } from '../resource/read-cluster.ts';
import { messageOf } from '../../api/values/message-of.ts';
import { addressesOf } from './endpoint-addresses.ts';
import { BackupFailure } from './failure.ts';
import { hostsOfSecret } from './secret-hosts.ts';
import { POD, SECRET } from '../runtime/kinds.ts';
import { podFacts } from '../observe/pod-facts.ts';
import { dial } from '../observe/probe.ts';
import { clientAccess, readTlsSecrets, secretText } from '../observe/certificate-secrets.ts';
import { whyUnusable } from '../observe/usable-certificate.ts';

/** The member of choice. To be closed. */
export interface SnapshotSource {
  readonly member: EtcdMember;
  readonly name: string;
  readonly clusterId: string;
  readonly version: string;
  /** Everything up to here is in a snapshot that is taken now. */
  readonly revision: string;
  /** The pod that it runs in, for a member of a cluster that is managed here. */
  readonly pod:
    | {
        readonly namespace: string;
        readonly name: string;
        readonly uid: string;
        readonly node: string | undefined;
      }
    | undefined;
}

/** A member that may be asked. */
interface Dialled {
  readonly name: string;
  readonly member: EtcdMember;
  readonly pod: SnapshotSource['pod'];
  /** It is at an address that only an administrator's word lets anybody name: what is there is not for users of a namespace. */
  readonly isForeign?: boolean;
}

/** Members to ask, and why there are not more. */
interface Dialling {
  readonly dialled: readonly Dialled[];
  readonly silent: readonly string[];
}

interface Asked extends Dialled, SourceCandidate {
  readonly clusterId: string;
  readonly version: string;
}

/** Opens the best member there is. Throws a BackupFailure or an EtcdError that says why there is none. */
export async function openSource(deps: Dependencies, backup: EtcdBackup): Promise<SnapshotSource> {
  const cluster = await managedCluster(deps, backup);
  const { dialled, silent: unasked } =
    cluster === undefined ? await dialEndpoints(deps, backup) : await dialCluster(deps, backup, cluster);
  const asked: Asked[] = [];
  const silent: string[] = [...unasked];
  let denials = 0;
  await Promise.all(
    dialled.map(async each => {
      try {
        asked.push(await ask(each));
      } catch (error) {
        const message = messageOf(error);
        if (each.isForeign !== true && error instanceof EtcdError && error.code === 'denied') denials += 1;
        silent.push(each.isForeign === true ? `${each.name} is not reachable` : message);
        if (each.isForeign === true) deps.logger.info('an etcd endpoint is not reachable', { message });
      }
    }),
  );
  const [best] = (cluster === undefined ? endpointsByPreference : sourcesByPreference)(
    asked.map(each => ({ ...each, differs: differs(cluster, each) })),
  );
  for (const { member } of dialled) if (member !== best?.member) member.close();
  if (best === undefined) {
    const none = noSource(dialled.length + unasked.length, [...new Set(silent)].toSorted());
    throw denials > 0 && denials === silent.length ? denied(backup, none) : none;
  }
  const { member, name, clusterId, version, revision = '0', pod } = best;
  return { member, name, clusterId, version, revision, pod };
}

/** Whether its data was found to differ; undefined while no member was found to. */
function differs(cluster: EtcdCluster | undefined, { memberId }: Asked): boolean | undefined {
  const { suspects = [] } = cluster?.status?.dataComparison ?? {};
  return suspects.length === 0 ? undefined : suspects.includes(memberId);
}

async function ask({ member, ...dialled }: Dialled): Promise<Asked> {
  const [status, read] = await Promise.allSettled([member.status(), member.linearizableRead()]);
  if (status.status === 'rejected') throw status.reason;
  // A learner refuses to read, which is no fault.
  if (read.status === 'rejected' && !status.value.isLearner) throw read.reason;
  const revision = read.status === 'fulfilled' ? read.value.revision : undefined;
  return { ...dialled, ...status.value, member, revision };
}

function noSource(count: number, silent: readonly string[]): Error {
  if (count === 0) return new BackupFailure('later', 'no member of the cluster has a pod with an address');
  const reasons =
    silent.length === 0 ? 'only learners and members with corrupt data answer' : silent.join('; ');
  return new EtcdError('unreachable', `no member can provide a snapshot: ${reasons}`);
}

/** The cluster of the specification, or the one whose client Service its endpoints name. */
export async function managedCluster(
  deps: Dependencies,
  backup: EtcdBackup,
): Promise<EtcdCluster | undefined> {
  const { namespace } = backup.metadata;
  const name = clusterOfBackup(backup.spec, namespace);
  if (name === undefined) return undefined;
  const object = await deps.kube.get({ apiVersion: API_VERSION, kind: 'EtcdCluster', namespace, name });
  if (object !== undefined) return asCluster(object);
  if (backup.spec.clusterRef === undefined) return undefined;
  throw new BackupFailure(
    'later',
    `EtcdCluster ${namespace}/${name} does not exist: create it, or correct spec.clusterRef.name`,
  );
}

/** Every member asks for a user: no other try helps before somebody names the right one. */
function denied({ metadata, spec }: EtcdBackup, { message }: Error): EtcdError {
  const { authSecret = '' } = spec;
  const cure =
    authSecret === ''
      ? 'set spec.authSecret to a Secret with username and password of a user with the role root'
      : `correct username and password in Secret ${metadata.namespace}/${authSecret}`;
  return new EtcdError('denied', `${message}; authentication is enabled in etcd: ${cure}`);
}

async function dialCluster(deps: Dependencies, backup: EtcdBackup, cluster: EtcdCluster): Promise<Dialling> {
  const { kube, etcd } = deps;
  const { namespace, name, uid } = cluster.metadata;
  const access = clientAccess(await readTlsSecrets(kube, cluster));
  if ('unusable' in access) throw new BackupFailure('later', access.unusable);
  const credentials = await readCredentials(deps, backup);
  const domain = domainOf(cluster);
  const { items } = await kube.list(POD, { namespace, labelSelector: `${LABEL_CLUSTER}=${name}` });
  const dialled = items
    .map(pod => podFacts(pod, uid))
    .filter(pod => pod.owned && !pod.deleting)
    .flatMap(pod =>
      pod.ip === undefined
        ? []
        : [
            {
              name: pod.name,
              member: dial(
                etcd,
                { name, namespace, domain, access, credentials },
                { name: pod.name, ip: pod.ip },
              ),
              pod: { namespace, name: pod.name, uid: pod.uid, node: pod.node },
            },
          ],
    );
  return { dialled, silent: [] };
}

async function dialEndpoints(deps: Dependencies, backup: EtcdBackup): Promise<Dialling> {
  const { namespace } = backup.metadata;
  const allowed = new AllowedAddresses(deps.endpointsAllowed ?? []);
  const found = await Promise.all(
    (backup.spec.etcdEndpoints ?? []).map(async text => {
      const endpoint = parseEndpoint(text);
      if (endpoint === undefined) throw noAddress(text);
      const behind = await addressesOf({ kube: deps.kube, allowed }, endpoint, namespace);
      if (behind.kind === 'foreign') throw foreignAddress(text, namespace);
      return { endpoint, behind, name: `${endpoint.host}:${endpoint.port}` };
    }),
  );
  const tls = found.some(({ endpoint }) => endpoint.tls) ? await readClientTls(deps, backup) : undefined;
  const foreign = found.filter(({ behind }) => behind.kind === 'addresses' && !behind.isOwn);
  const credentials = await readCredentials(
    deps,
    backup,
    foreign.map(({ endpoint }) => endpoint.host),
  );
  const dialled = found.flatMap(({ endpoint, behind, name }) =>
    behind.kind !== 'addresses'
      ? []
      : behind.addresses.map(({ ip, port }) => ({
          name,
          member: deps.etcd.member({
            host: ip,
            port,
            serverName: endpoint.host,
            ...(endpoint.tls && tls !== undefined && { tls }),
            ...(credentials !== undefined && { credentials }),
          }),
          pod: undefined,
          isForeign: !behind.isOwn,
        })),
  );
  const silent = found.flatMap(({ behind, name }) =>
    behind.kind === 'nothing' ? [`${name}: ${behind.why}`] : [],
  );
  return { dialled, silent };
}

function noAddress(text: string): BackupFailure {
  return new BackupFailure(
    'never',
    `spec.etcdEndpoints ${text} is not an address: use an address such as https://example-client:2379`,
  );
}

/** Whether anything is there was not looked at, so this is not known. */
function foreignAddress(text: string, namespace: string): BackupFailure {
  return new BackupFailure(
    'never',
    `spec.etcdEndpoints ${text} is neither a Service with pods in namespace ${namespace} nor a pod in it: use one of these, or add the host to BACKUP_ENDPOINTS_ALLOWED of the operator`,
  );
}

async function readClientTls({ kube }: Dependencies, backup: EtcdBackup): Promise<ClientTls> {
  const { namespace } = backup.metadata;
  const name = backup.spec.clientTLSSecret ?? '';
  if (name === '') {
    throw new BackupFailure(
      'never',
      'spec.etcdEndpoints use https: set spec.clientTLSSecret to the Secret with the certificates',
    );
  }
  const object = await kube.get({ ...SECRET, namespace, name });
  for (const style of ['CoreOS', 'Standard'] as const) {
    const keys = secretKeys('operator', style);
    const [ca, cert, key] = [keys.ca, keys.cert, keys.key].map(part => secretText(object, part));
    if (ca === undefined || cert === undefined || key === undefined) continue;
    const fault = whyUnusable({ ca, cert, key });
    if (fault === undefined) return { ca, cert, key };
    const message = `Secret ${namespace}/${name} cannot be used: ${keys[fault.part]}: ${fault.detail}`;
    throw new BackupFailure('later', message);
  }
  const wanted = Object.values(secretKeys('operator', 'CoreOS')).join(', ');
  throw new BackupFailure(
    'later',
    `Secret ${namespace}/${name} ${object === undefined ? 'does not exist' : `lacks one of ${wanted}`}`,
  );
}

/** @param foreign the hosts that they would be sent to which are not of the namespace: anyone who runs a pod there can read its Secrets anyway */
async function readCredentials(
  { kube, credentialHosts = [] }: Dependencies,
  backup: EtcdBackup,
  foreign: readonly string[] = [],
): Promise<Credentials | undefined> {
  const { namespace } = backup.metadata;
  const name = backup.spec.authSecret ?? '';
  if (name === '') return undefined;
  const object = await kube.get({ ...SECRET, namespace, name });
  const named = hostsOfSecret(object, credentialHosts);
  const unnamed = object === undefined ? undefined : foreign.find(host => !named.covers(host));
  if (unnamed !== undefined) {
    throw new BackupFailure(
      'never',
      `spec.etcdEndpoints ${unnamed} is not in namespace ${namespace}, and the contents of Secret ${namespace}/${name} would be sent there: add the host to the annotation ${ANNOTATION_HOSTS} of the Secret, or to CREDENTIAL_HOSTS_ALLOWED of the operator`,
    );
  }
  const [username, password] = ['username', 'password'].map(key => secretText(object, key));
  // `echo` and most editors end a file with a line break, which nobody means to be a part of either.
  if (username !== undefined && password !== undefined)
    return { username: username.trim(), password: password.replace(/\r?\n$/, '') };
  const fault = object === undefined ? 'does not exist' : 'lacks username or password';
  throw new BackupFailure('later', `Secret ${namespace}/${name} ${fault}`);
}
