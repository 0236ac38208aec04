/**
 * What the watcher remembers of an object: enough to know its owner and a change that matters, and no more.
 * Applied before an object is stored, so nothing else is ever held. Pure.
 */
import { createHash } from 'node:crypto';
import { clusterOfService, parseEndpoint } from '../../api/derived/endpoints.ts';
import { ANNOTATION_MAINTENANCE, GROUP, LABEL_APP, LABEL_CLUSTER } from '../../api/names.ts';
import { canonical } from '../../api/values/canonical.ts';
import { withoutUndefined } from '../../api/values/without-undefined.ts';
import type { KubeObject, ObjectMeta } from '../../kube/port.ts';
import { at, isTrueIn, listAt, pick, textAt } from '../model/json.ts';
import { hasFinalizer, resourceFrom } from './known-resources.ts';

/** kubectl keeps the whole applied object here. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/**
 * One of the three kinds: what the watcher knows of it, what counts of a change of it, and what of its status is taken away by nobody but
 * users. The operator writes the status itself: to signal that would wake the workflow for ever, and use up the 10,000 signals that
 * Temporal allows a run.
 */
export function slimResource(object: KubeObject): KubeObject {
  return {
    ...slimMeta(object),
    state: fingerprint([object.metadata.generation, marksOf(object)]),
    clusters: clustersNamed(object),
    results: resultsOf(object),
    hasFinalizer: hasFinalizer(object),
    identity: identityOf(object),
    resource: resourceFrom(object),
  };
}

/** A PersistentVolumeClaim, Service or PodDisruptionBudget: any change of it counts. The status of a budget only repeats what the pods say. */
export function slimOwned(object: KubeObject): KubeObject {
  const { kind, spec, status } = object;
  const said = kind === 'PodDisruptionBudget' ? undefined : status;
  return { ...slimMeta(object), state: fingerprint([marksOf(object), spec, said]) };
}

/**
 * A Pod: as other owned objects, and the address at which its member is asked (members/monitor.ts). One that has ended, or was evicted,
 * still names the address that it had, which may be another pod's by now.
 */
export function slimPod(object: KubeObject): KubeObject {
  const hasEnded = ['Succeeded', 'Failed'].includes(String(at(object, 'status', 'phase')));
  const podIP = hasEnded ? undefined : at(object, 'status', 'podIP');
  return { ...slimOwned(object), podIP, isReady: isTrueIn(object, 'Ready') };
}

/**
 * A Secret, of which only the metadata has come. Its annotations go, because kubectl puts a copy of the data there. What a change of the
 * data looks like is then a new resourceVersion and nothing else.
 */
export function slimSecret(object: KubeObject): KubeObject {
  return { ...slimMeta(object), state: object.metadata.resourceVersion };
}

/**
 * Who the object is and whose. Users who may create objects decide how large their labels and annotations are, and how many
 * objects there are: of these, and of owners who are none of ours, nothing is kept.
 */
export function slimMeta({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, generation, creationTimestamp, deletionTimestamp } =
    metadata;
  const kept = withoutUndefined<ObjectMeta>({
    name,
    namespace,
    uid,
    resourceVersion,
    generation,
    creationTimestamp,
    deletionTimestamp,
    labels: pick(metadata.labels, LABEL_APP, LABEL_CLUSTER) as Record<string, string>,
    ownerReferences: metadata.ownerReferences?.filter(owner => owner.apiVersion.startsWith(`${GROUP}/`)),
  });
  return { apiVersion, kind, metadata: kept };
}

/** What users and controllers mark an object with. The note of who keeps a member busy is renewed every few seconds, and of no concern to anybody who waits. */
export function marksOf({ metadata }: KubeObject): unknown {
  const { labels, annotations = {}, ownerReferences, deletionTimestamp } = metadata;
  const { [LAST_APPLIED]: _, [ANNOTATION_MAINTENANCE]: __, ...others } = annotations;
  return [labels, others, ownerReferences, deletionTimestamp];
}

/** Names of clusters that a restore or a backup is about. */
function clustersNamed(object: KubeObject): readonly string[] {
  const { namespace = '' } = object.metadata;
  const named = textAt(object, 'spec', object.kind === 'EtcdRestore' ? 'etcdCluster' : 'clusterRef', 'name');
  const services = listAt(object, 'spec', 'etcdEndpoints').map(text => {
    const endpoint = parseEndpoint(String(text));
    return endpoint && clusterOfService(endpoint.host, namespace);
  });
  return object.kind === 'EtcdCluster' ? [] : [named, ...services].filter(name => name !== undefined);
}

/** What the status of its clusters says of an EtcdBackup: they are reconciled when it changes, but not while a backup is being made. */
function resultsOf(object: KubeObject): string | undefined {
  if (object.kind !== 'EtcdBackup') return undefined;
  const runs = pick(object['status'], 'lastRun', 'lastSuccessDate', 'nextRun', 'history');
  return fingerprint([clustersNamed(object), at(object, 'spec', 'timeoutSeconds'), runs]);
}

/** What a status holds that the operator writes and relies on, by field; gone when somebody took the status away. */
function identityOf({ kind, status }: KubeObject): Readonly<Record<string, string>> {
  if (kind !== 'EtcdCluster' || at(status, 'observedGeneration') === undefined) return {};
  const fields = pick(status, 'clusterID', 'incarnation', 'settings', 'storage', 'lastSerial');
  return Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, fingerprint(value)]));
}

/** Equal for equal values, and short. */
function fingerprint(value: unknown): string {
  return createHash('sha256').update(canonical(value)).digest('base64');
}
