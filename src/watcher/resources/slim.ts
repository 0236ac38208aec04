/**
 * What the watcher remembers of an object: enough to know its owner and a change that matters, and no more.
 * Applied before an object is stored, so nothing else is ever held. Pure.
 */
import { WATCHER_CONDITIONS } from '../../api/conditions/catalogue.ts';
import { type ReportedCondition, reportedConditions } from '../../api/conditions/reported.ts';
import { clusterOfService, parseEndpoint } from '../../api/derived/endpoints.ts';
import {
  ANNOTATION_MAINTENANCE,
  FIELD_MANAGER,
  FINALIZER,
  GROUP,
  LABEL_APP,
  LABEL_CLUSTER,
} from '../../api/names.ts';
import { parseTimestamp } from '../../api/values/time.ts';
import type { KubeObject, ObjectMeta } from '../../kube/port.ts';
import { backupFigures } from './backup-figures.ts';
import { fingerprint } from '../model/fingerprint.ts';
import { at, listAt, pick, textAt } from '../model/json.ts';
import { isCondition } from './known-resources.ts';
import { reportedCluster } from './reported-cluster.ts';
import { secretReferences } from './secret-references.ts';
import { isStamp, stampsOf } from './stamps.ts';

/** kubectl keeps the whole applied object here. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** One of the three kinds: identity, what it names (Secrets, and a restore or backup its cluster), whether it is under way, and the conditions that the watcher wrote on it. */
export function slimResource(object: KubeObject): KubeObject {
  return {
    ...bare(object),
    createdAt: parseTimestamp(object.metadata.creationTimestamp),
    secrets: secretReferences(object),
    clusters: clustersNamed(object),
    results: resultsOf(object),
    underWay: isUnderWay(object),
    hasWork: hasWork(object),
    isNew: isNew(object),
    figures: backupFigures(object),
    reported: reportedCluster(object),
    hasFinalizer: object.metadata.finalizers?.includes(FINALIZER) === true,
    identity: identityOf(object),
    ownConditions: listAt(object, 'status', 'conditions').filter(isOwnCondition),
    notable: reportedOf(object),
    report: reportOf(object),
  };
}

/** What passes said that metrics report. The watcher's own conditions are kept whole, since it writes them. */
function reportedOf(object: KubeObject): readonly ReportedCondition[] {
  const conditions = listAt(object, 'status', 'conditions').filter(isCondition);
  return reportedConditions(
    object.kind,
    conditions.filter(condition => !isOwnCondition(condition)),
  );
}

function isOwnCondition(condition: unknown): boolean {
  return WATCHER_CONDITIONS.includes(String(at(condition, 'type')));
}

/** What passes have written: the whole status but the watcher's own conditions, and what follows from them. Undefined before the first. */
function reportOf({ status }: KubeObject): string | undefined {
  if (at(status, 'observedGeneration') === undefined) return undefined;
  const conditions = listAt(status, 'conditions').filter(condition => !isOwnCondition(condition));
  const { attention: _, ...others } = status as { readonly attention?: unknown };
  return fingerprint({ ...others, conditions });
}

/** Whether there is something to be done for a resource, as far as its status shows. */
function hasWork(object: KubeObject): boolean {
  const { generation, deletionTimestamp } = object.metadata;
  if (deletionTimestamp !== undefined || isUnderWay(object)) return true;
  if (at(object, 'status', 'observedGeneration') !== generation) return true;
  if (object.kind !== 'EtcdCluster') return false;
  const isAvailable = listAt(object, 'status', 'conditions').some(
    condition => at(condition, 'type') === 'Available' && at(condition, 'status') === 'True',
  );
  return !isAvailable || at(object, 'status', 'operation') !== undefined;
}

/** A cluster that no pass has reported on yet. One that is to go does not wait for others to be created. */
function isNew({ kind, metadata, status }: KubeObject): boolean {
  if (kind !== 'EtcdCluster' || metadata.deletionTimestamp !== undefined) return false;
  return at(status, 'observedGeneration') === undefined;
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

/** What the status of its clusters says of an EtcdBackup: they are reconciled when it changes. */
function resultsOf(object: KubeObject): string | undefined {
  if (object.kind !== 'EtcdBackup') return undefined;
  // Any of them may be found bad, or be deleted, and it may be the newest that is verified.
  const history = listAt(object, 'status', 'history').map(entry =>
    pick(entry, 'location', 'verified', 'clusterID'),
  );
  const runs = pick(object['status'], 'lastRun', 'lastSuccessDate', 'nextRun');
  return fingerprint([clustersNamed(object), at(object, 'spec', 'timeoutSeconds'), history, runs]);
}

/** What a status holds that the operator writes and relies on, by field; gone when somebody took the status away. */
function identityOf(object: KubeObject): Readonly<Record<string, string>> | undefined {
  const { kind, status } = object;
  if (kind !== 'EtcdCluster' || at(status, 'observedGeneration') === undefined) return undefined;
  const fields = pick(status, 'clusterID', 'incarnation', 'settings', 'storage', 'lastSerial');
  const written = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(written.map(([field, value]) => [field, fingerprint(value)]));
}

/** A restore that has not ended, or a backup that is being made: nothing of theirs in Kubernetes changes by itself. */
function isUnderWay(object: KubeObject): boolean {
  if (object.kind === 'EtcdRestore') return at(object, 'status', 'completedAt') === undefined;
  return object.kind === 'EtcdBackup' && at(object, 'status', 'progress') !== undefined;
}

/** A PersistentVolumeClaim, Service or PodDisruptionBudget: identity, a fingerprint of its meaning, and whether the operator has just made it. */
export function slimOwned(object: KubeObject): KubeObject {
  return {
    ...bare(object),
    meaning: fingerprint(meaningOf(object)),
    isJustMade: isJustMade(object),
  };
}

/** Whether its managers, which are known only of what was just made, name no other writer (Kubernetes docs, "Server-Side Apply", field management). */
function isJustMade({ metadata: { managedFields = [] } }: KubeObject): boolean {
  return managedFields.length > 0 && managedFields.every(entry => at(entry, 'manager') === FIELD_MANAGER);
}

/**
 * A Pod: as other owned objects, what its node says of it apart from what others ask for, and the address at which its member is asked
 * (members/monitor.ts). One that has ended, or was evicted, still names the address that it had, which may be another pod's by now.
 */
export function slimPod(object: KubeObject): KubeObject {
  const hasEnded = ['Succeeded', 'Failed'].includes(String(at(object, 'status', 'phase')));
  const isReady = listAt(object, 'status', 'conditions').some(
    condition => at(condition, 'type') === 'Ready' && at(condition, 'status') === 'True',
  );
  return {
    ...slimOwned(object),
    state: fingerprint(podState(object)),
    podIP: hasEnded ? undefined : at(object, 'status', 'podIP'),
    isReady,
  };
}

/**
 * A Secret, of which only the metadata has come: identity only. Its annotations go, because kubectl puts a copy of the data
 * there. What a change of the data looks like is then a new resourceVersion and nothing else.
 */
export function slimSecret({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  return { apiVersion, kind, metadata: slimMeta(metadata) };
}

/** The parts of an object whose change means something to the owner: never counters, messages or timestamps. */
function meaningOf(object: KubeObject): unknown {
  switch (object.kind) {
    case 'Pod':
      // Almost nothing in a pod's specification can change; these can (KEP-1287 for resources).
      return listAt(object, 'spec', 'containers').map(container =>
        pick(container, 'name', 'image', 'resources'),
      );
    case 'PersistentVolumeClaim':
      return {
        spec: object['spec'],
        status: pick(
          object['status'],
          'phase',
          'capacity',
          'allocatedResources',
          'allocatedResourceStatuses',
        ),
        conditions: conditionsMeaning(object),
      };
    case 'PodDisruptionBudget':
      // Its status only repeats what the pods say.
      return { spec: object['spec'] };
    default:
      return { spec: object['spec'], status: pick(object['status'], 'loadBalancer') };
  }
}

/** What its scheduler and its kubelet say of a pod. */
function podState(pod: KubeObject): unknown {
  const containers = [
    ...listAt(pod, 'status', 'initContainerStatuses'),
    ...listAt(pod, 'status', 'containerStatuses'),
  ];
  return {
    node: at(pod, 'spec', 'nodeName'),
    status: pick(pod['status'], 'phase', 'reason', 'podIP'),
    conditions: conditionsMeaning(pod),
    containerStatuses: containers.map(status => ({
      ...pick(status, 'name', 'ready', 'started', 'restartCount', 'imageID'),
      waiting: at(status, 'state', 'waiting', 'reason'),
      running: at(status, 'state', 'running') !== undefined,
      exitCode: at(status, 'state', 'terminated', 'exitCode'),
    })),
  };
}

function conditionsMeaning(object: KubeObject): unknown {
  return listAt(object, 'status', 'conditions').map(condition => pick(condition, 'type', 'status', 'reason'));
}

function bare(object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata } = object;
  return { apiVersion, kind, metadata: slimMeta(metadata), marks: marksOf(object), ...stampsOf(object) };
}

/**
 * Who the object is and whose. Users who may create objects decide how large their labels and annotations are, and how many
 * objects there are: of these, and of owners who are none of ours, nothing is kept.
 */
function slimMeta(metadata: ObjectMeta): ObjectMeta {
  const { name, namespace, uid, resourceVersion, generation, deletionTimestamp } = metadata;
  const owners = metadata.ownerReferences?.filter(({ apiVersion }) => apiVersion.startsWith(`${GROUP}/`));
  const labels = Object.entries(metadata.labels ?? {}).filter(([key]) => OWNING_LABELS.includes(key));
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
    ...(generation !== undefined && { generation }),
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    ...(labels.length > 0 && { labels: Object.fromEntries(labels) }),
    ...(owners !== undefined && owners.length > 0 && { ownerReferences: owners }),
  };
}

/** The labels by which an object names its cluster (owner-key.ts). */
const OWNING_LABELS: readonly string[] = [LABEL_APP, LABEL_CLUSTER];

/** A fingerprint of what users and controllers mark an object with; that it has changed is all that counts. Stamps are kept apart (stamps.ts). */
function marksOf({
  kind,
  metadata: { labels = {}, annotations = {}, ownerReferences = [] },
}: KubeObject): string {
  const others = Object.entries(annotations).filter(
    ([key]) => !NO_MARKS.includes(key) && !isStamp(kind, key),
  );
  return fingerprint([labels, Object.fromEntries(others), ownerReferences]);
}

/** The second is renewed every few seconds while something heavy goes on: of no concern to anybody who waits. */
const NO_MARKS: readonly string[] = [LAST_APPLIED, ANNOTATION_MAINTENANCE];
