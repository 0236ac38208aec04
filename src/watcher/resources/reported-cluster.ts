/** What an EtcdCluster asks for and what its status says, as far as the survey and the gauges need it. Pure. */
import { withDefaults } from '../../api/defaults/etcd-cluster.ts';
import { domainOf } from '../../api/derived/domain.ts';
import { effectiveCluster } from '../../api/derived/settings-in-force.ts';
import { securityOf } from '../../api/derived/tls.ts';
import type { EtcdCluster, EtcdClusterSpec } from '../../api/schemas/types.ts';
import type { KubeObject } from '../../kube/port.ts';
import { parseTimestamp } from '../../api/values/time.ts';
import { at, listAt, textAt } from '../model/json.ts';

export interface ReportedMember {
  readonly name: string;
  /** In hexadecimal, as etcdctl prints it; undefined of one that nobody has an id of. */
  readonly id: string | undefined;
  readonly role: string | undefined;
  readonly version: string | undefined;
  readonly health: string | undefined;
}

export interface ReportedCluster {
  /** Members that the specification asks for. */
  readonly size: number;
  /** Members that the status says there are. */
  readonly listed: number | undefined;
  readonly members: readonly ReportedMember[];
  /** The type of the operation that the status says is under way. */
  readonly operation?: string;
  /** It waits for something, or somebody: its message says what. */
  readonly isHeldUp?: true;
  /** Whether the condition Available is True. */
  readonly available: boolean;
  /** Bytes that a database may hold. */
  readonly quota: number;
  /** The domain that the URLs of its members end in: all that is needed to ask them. Absent of a cluster with TLS. */
  readonly plainDomain?: string;
  /** Of one whose members keep their data in their pods: the nodes that they are on. */
  readonly nodesWithData?: readonly string[];
  /** Seconds since the epoch: when the first of its certificates expires. Absent in plain text. */
  readonly certificateExpiry?: number;
}

/** Undefined of any other object, and of one whose specification cannot be read: a pass says why. */
export function reportedCluster(object: KubeObject): ReportedCluster | undefined {
  const read = object.kind === 'EtcdCluster' ? asRead(object) : undefined;
  if (read === undefined) return undefined;
  const { asked, plainDomain } = read;
  const ends = listAt(object, 'status', 'tls', 'certificates').flatMap(
    certificate => parseTimestamp(textAt(certificate, 'notAfter')) ?? [],
  );
  const listed = at(object, 'status', 'size');
  const operation = textAt(object, 'status', 'operation', 'type');
  return {
    size: asked.size,
    listed: typeof listed === 'number' ? listed : undefined,
    members: listAt(object, 'status', 'members', 'details').map(detail => ({
      name: String(at(detail, 'name')),
      id: textAt(detail, 'id'),
      role: textAt(detail, 'role'),
      version: textAt(detail, 'version'),
      health: textAt(detail, 'health'),
    })),
    available: listAt(object, 'status', 'conditions').some(
      condition => at(condition, 'type') === 'Available' && at(condition, 'status') === 'True',
    ),
    quota: asked.etcd.quotaBackendBytes,
    ...(operation !== undefined && { operation }),
    ...(at(object, 'status', 'operation', 'message') !== undefined && { isHeldUp: true }),
    ...(plainDomain !== undefined && { plainDomain }),
    ...nodesWithData(object),
    ...(ends.length > 0 && { certificateExpiry: Math.min(...ends) / 1_000 }),
  };
}

function nodesWithData(object: KubeObject): Pick<ReportedCluster, 'nodesWithData'> {
  if (textAt(object, 'status', 'storage', 'kind') !== 'EmptyDir') return {};
  const nodes = listAt(object, 'status', 'members', 'details').flatMap(
    detail => textAt(detail, 'node') ?? [],
  );
  return { nodesWithData: [...new Set(nodes)] };
}

/** One that is older than the schema, or newer, must not end the watch of all others. */
function asRead(
  object: KubeObject,
): { asked: ReturnType<typeof withDefaults>; plainDomain: string | undefined } | undefined {
  try {
    const cluster = effectiveCluster({ spec: {}, ...object } as unknown as EtcdCluster);
    const plainDomain = securityOf(cluster) === undefined ? domainOf(cluster) : undefined;
    return { asked: withDefaults((object['spec'] ?? {}) as EtcdClusterSpec), plainDomain };
  } catch {
    return undefined;
  }
}
