import type {
  ApplyOptions,
  KubeObject,
  ObjectRef,
  PatchOptions,
  ReplaceOptions,
  WritableObject,
  WriteOptions,
} from '../../../src/kube/port.ts';
import { applyConfig, cloneJson, type Json, ownAfterUpdate } from './fields.ts';
import { jsonPatch, mergePatch } from './match.ts';
import { type FakeStorage, fault, nameOf, refOf } from './storage.ts';

const withoutStatus = new Set([
  'ConfigMap',
  'Endpoints',
  'EndpointSlice',
  'Event',
  'Lease',
  'Role',
  'RoleBinding',
  'Secret',
  'ServiceAccount',
  'StorageClass',
]);
const hasStatus = (object: KubeObject): boolean => !withoutStatus.has(object.kind);

/** Who writes, to which storage. */
export interface Writer {
  readonly storage: FakeStorage;
  readonly manager: string;
}

/** POST. The status of a new object is dropped, as for every kind with a status subresource. */
export function createObject(
  { storage, manager }: Writer,
  given: WritableObject,
  options: WriteOptions,
): KubeObject {
  const object = cloneJson(given) as unknown as KubeObject;
  if (object.metadata.resourceVersion !== undefined) throw fault(400, 'BadRequest', 'resourceVersion is set');
  const uid = storage.newUid();
  object.metadata.name ??= `${object.metadata.generateName ?? ''}${uid.slice(-5)}`;
  if (storage.find(refOf(object)) !== undefined) throw fault(409, 'AlreadyExists', nameOf(object));
  if (hasStatus(object)) delete object['status'];
  delete object.metadata.deletionTimestamp;
  Object.assign(object.metadata, { uid, creationTimestamp: storage.timestamp(), generation: 1 });
  if (options.dryRun === true) return object;
  return storage.store(object, ownAfterUpdate({}, object as Json, new Map(), `Update ${manager}`), undefined);
}

/** PATCH application/apply-patch+yaml. */
export function applyObject(
  { storage, manager }: Writer,
  given: WritableObject,
  options: ApplyOptions,
): KubeObject {
  const config = appliedPart(given, options.subresource);
  const owner = `Apply ${manager}${options.subresource === undefined ? '' : '/status'}`;
  const found = storage.find(refOf(config));
  if (found === undefined) return applyNew({ storage, manager: owner }, config, options);
  checkPreconditions(found.object, config.metadata);
  const applied = applyConfig(found.object as Json, found.owners, config as Json, owner);
  if (options.force === false && applied.conflicts.length > 0) {
    throw fault(409, 'Conflict', `Apply failed with conflicts: ${applied.conflicts.join(', ')}`);
  }
  const object = applied.object as KubeObject;
  return options.dryRun === true ? object : storage.store(object, applied.owners, found.object);
}

/** The fields that an apply can touch: status alone, or everything else. */
function appliedPart(given: WritableObject, subresource: 'status' | undefined): KubeObject {
  const config = cloneJson(given) as unknown as KubeObject;
  if (subresource === undefined) {
    if (hasStatus(config)) delete config['status'];
    return config;
  }
  const { name, namespace, uid, resourceVersion } = config.metadata;
  const { apiVersion, kind } = config;
  // Through JSON, so that absent fields stay absent.
  const part = {
    apiVersion,
    kind,
    metadata: { name, namespace, uid, resourceVersion },
    status: config['status'],
  };
  return JSON.parse(JSON.stringify(part)) as KubeObject;
}

function applyNew({ storage, manager }: Writer, config: KubeObject, options: ApplyOptions): KubeObject {
  if (options.subresource !== undefined) throw fault(404, 'NotFound', nameOf(config));
  if (config.metadata.uid !== undefined)
    throw fault(409, 'Conflict', 'uid mismatch: no existing object was found');
  const { object, owners } = applyConfig({}, new Map(), config as Json, manager);
  const { name, namespace } = config.metadata;
  const born = { uid: storage.newUid(), creationTimestamp: storage.timestamp(), generation: 1 };
  const metadata = {
    ...(object['metadata'] as object),
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...born,
  };
  const made: KubeObject = { ...object, apiVersion: config.apiVersion, kind: config.kind, metadata };
  return options.dryRun === true ? made : storage.store(made, owners, undefined);
}

/** PATCH with a merge or JSON patch. */
export function patchObject(
  writer: Writer,
  ref: ObjectRef,
  patch: { value: unknown; options: PatchOptions },
): KubeObject {
  const { value, options } = patch;
  const current = cloneJson(writer.storage.require(ref).object);
  if (options.type === 'merge')
    return updateObject(writer, mergePatch(current, value) as KubeObject, options);
  try {
    return updateObject(writer, jsonPatch(current as Json, value as unknown[]) as KubeObject, options);
  } catch (error) {
    throw error instanceof TypeError || !(error instanceof Error)
      ? error
      : fault(422, 'Invalid', error.message);
  }
}

/** PUT: the status alone when that subresource is named, everything else otherwise. */
export function updateObject(
  { storage, manager }: Writer,
  wanted: KubeObject,
  options: ReplaceOptions,
): KubeObject {
  const found = storage.require(refOf(wanted));
  const current = found.object;
  checkPreconditions(current, wanted.metadata);
  const object = cloneJson(options.subresource === 'status' ? current : wanted);
  const statusFrom = options.subresource === 'status' || !hasStatus(current) ? wanted : current;
  object['status'] = cloneJson(statusFrom['status']);
  if (object['status'] === undefined) delete object['status'];
  const { uid, creationTimestamp, deletionTimestamp, generation, resourceVersion } = current.metadata;
  // Through JSON, so that absent fields stay absent.
  Object.assign(
    object.metadata,
    JSON.parse(JSON.stringify({ uid, creationTimestamp, deletionTimestamp, generation, resourceVersion })),
  );
  if (options.dryRun === true) return object;
  const owner = `Update ${manager}${options.subresource === undefined ? '' : `/${options.subresource}`}`;
  return storage.store(object, ownAfterUpdate(current as Json, object as Json, found.owners, owner), current);
}

/** The uid and resourceVersion that a write names must be the stored ones. */
export function checkPreconditions(
  current: KubeObject,
  wanted: { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined },
): void {
  for (const field of ['uid', 'resourceVersion'] as const) {
    if (wanted[field] !== undefined && wanted[field] !== current.metadata[field]) {
      throw fault(
        409,
        'Conflict',
        `${nameOf(current)}: its ${field} is ${current.metadata[field]}, not ${wanted[field]}`,
      );
    }
  }
}
