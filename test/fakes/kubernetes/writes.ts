import type {
  ApplyOptions,
  KubeObject,
  ObjectRef,
  PatchOptions,
  ReplaceOptions,
  WritableObject,
  WriteOptions,
} from '../../../src/kube/port.ts';
import { applyConfig, cloneJson, type Json } from './fields.ts';
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
  const object = completed(storage, cloneJson(given) as unknown as KubeObject, true);
  if (object.metadata.resourceVersion !== undefined) throw fault(400, 'BadRequest', 'resourceVersion is set');
  const uid = storage.newUid();
  object.metadata.name ??= `${object.metadata.generateName ?? ''}${uid.slice(3, 8)}`;
  if (storage.find(refOf(object)) !== undefined) throw fault(409, 'AlreadyExists', nameOf(object));
  if (hasStatus(object)) delete object['status'];
  delete object.metadata.deletionTimestamp;
  Object.assign(object.metadata, { uid, creationTimestamp: storage.timestamp(), generation: 1 });
  if (options.dryRun === true) return object;
  const owners = storage.ownersAfter(undefined, object, { owners: new Map(), manager });
  return storage.store(object, owners, undefined);
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
  if (options.dryRun === true) return object;
  return storage.store(completed(storage, object, false), applied.owners, found.object);
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
  return fromWire(part) as KubeObject;
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
  return options.dryRun === true ? made : storage.store(completed(storage, made, true), owners, undefined);
}

/** PATCH with a merge or JSON patch. */
export function patchObject(
  writer: Writer,
  ref: ObjectRef,
  patch: { value: unknown; options: PatchOptions },
): KubeObject {
  const { value, options } = patch;
  const current = writer.storage.copy(writer.storage.require(ref).object);
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
  const isStatus = options.subresource === 'status';
  const copied = storage.copy(isStatus ? current : wanted);
  const object: KubeObject = { ...copied, metadata: { ...copied.metadata } };
  object['status'] = storage.copy((isStatus || !hasStatus(current) ? wanted : current)['status']);
  if (object['status'] === undefined) delete object['status'];
  const { uid, creationTimestamp, deletionTimestamp, generation, resourceVersion } = current.metadata;
  // Through JSON, so that absent fields stay absent.
  Object.assign(
    object.metadata,
    fromWire({ uid, creationTimestamp, deletionTimestamp, generation, resourceVersion }),
  );
  if (options.dryRun === true) return object;
  const writer = `${manager}${options.subresource === undefined ? '' : `/${options.subresource}`}`;
  const owners = storage.ownersAfter(current, object, { owners: found.owners, manager: writer });
  return storage.store(isStatus ? object : completed(storage, object, false), owners, current);
}

/** As it comes out of the wire: absent fields are absent. */
export function fromWire(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}

function completed({ options }: FakeStorage, object: KubeObject, isNew: boolean): KubeObject {
  return options.complete === undefined ? object : options.complete(object, isNew);
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
