/** Where a backup's objects lie and what they are called. Pure. */
import { STORES, storeRow } from '../stores.ts';
import { type StoreOfSpec, storeBlock } from './store-of-specification.ts';
import { timestamp } from '../values/time.ts';
import type { EtcdBackupSpec } from '../schemas/types.ts';

/** A place in a store: the bucket, container or claim, and the key in it. */
export interface StorePlace {
  readonly container: string;
  readonly key: string;
}

/** Where the specification points. Undefined when the block of its storage type is missing. */
export function placeOf(spec: StoreOfSpec): StorePlace | undefined {
  const block = storeBlock(spec, spec.storageType);
  if (block?.claim !== undefined) return { container: block.claim, key: block.path };
  const slash = block?.path.indexOf('/') ?? -1;
  if (block === undefined || slash < 1) return undefined;
  return { container: block.path.slice(0, slash), key: block.path.slice(slash + 1) };
}

/** At which server a place is, as far as the specification shows. */
export interface StoreServer {
  readonly endpoint?: string;
  readonly region?: string;
}

/** The server of the specification: nothing of one for a volume, and nothing of what only its Secret says. */
export function serverOf(spec: StoreOfSpec): StoreServer {
  const { endpoint: asked, region = '' } = storeBlock(spec, spec.storageType) ?? {};
  const endpoint = asked || storeRow(spec.storageType)?.endpoint?.usual || '';
  return { ...(endpoint !== '' && { endpoint: plainly(endpoint) }), ...(region !== '' && { region }) };
}

/** An address in one of the many ways to write it. */
function plainly(endpoint: string): string {
  const [, scheme = 'https', host = '', port = '', path = ''] =
    /^(?:(https?):\/\/)?([^/]*?)(:\d+)?((?:\/.*)?)$/i.exec(endpoint) ?? [];
  const usual = scheme.toLowerCase() === 'https' ? ':443' : ':80';
  return `${scheme.toLowerCase()}://${host.toLowerCase()}${port === usual ? '' : port}${path.replace(/\/+$/, '')}`;
}

/** Whether two servers are known to be different ones. What one of them does not say makes no difference. */
export function isElsewhere(one: StoreServer, other: StoreServer): boolean {
  const differ = (a: string | undefined, b: string | undefined) =>
    a !== undefined && b !== undefined && a !== b;
  return differ(one.endpoint, other.endpoint) || differ(one.region, other.region);
}

/** For users and for restores: `s3://bucket/key`. */
export function locationOf(
  { storageType }: Pick<EtcdBackupSpec, 'storageType'>,
  { container, key }: StorePlace,
): string {
  return `${STORES[storageType].scheme}://${container}/${key}`;
}

/** The location of a single backup's object; undefined when the specification names none. */
export function objectLocation(spec: EtcdBackupSpec): string | undefined {
  const place = placeOf(spec);
  return place === undefined ? undefined : locationOf(spec, place);
}

/**
 * The key of a periodic backup's object, as the CoreOS operator wrote it: `<path>_v<revision>_<YYYY-MM-DD-HH:MM:SS>`.
 * @param startedAt when the run was begun, RFC 3339
 */
export function periodicKey(path: string, revision: string, startedAt: string): string {
  return `${path}_v${revision}_${nameTime(startedAt)}`;
}

/** What the keys of all periodic backups of a path begin with. */
export function periodicPrefix(path: string): string {
  return `${path}_v`;
}

/** Whether a key is that of the run that was begun then. */
export function isOfRun(key: string, path: string, startedAt: string): boolean {
  const prefix = periodicPrefix(path);
  const ending = `_${nameTime(startedAt)}`;
  return (
    key.startsWith(prefix) &&
    key.endsWith(ending) &&
    /^\d+$/.test(key.slice(prefix.length, key.length - ending.length))
  );
}

/** Matches the keys that an EtcdBackup of a path ever writes, and no other that begins alike. */
export function keysOf(path: string): RegExp {
  const time = '\\d{4}-\\d{2}-\\d{2}-\\d{2}:\\d{2}:\\d{2}';
  return new RegExp(`^${literal(path)}(_v\\d+_${time})?(${literal(MANIFEST)}(${literal(NEXT)})?)?$`);
}

/**
 * The key of the copy of an object: the path of the other store, and what a periodic backup appends. Undefined for a key that is not of this
 * path.
 */
export function keyOfCopy(key: string, path: string, otherPath: string): string | undefined {
  return keysOf(path).test(key) ? `${otherPath}${key.slice(path.length)}` : undefined;
}

/** Text as a pattern that matches it and nothing else. */
function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

const MANIFEST = '.json';
const NEXT = '.next';

/** The key of the manifest beside an object. */
export function manifestKey(objectKey: string): string {
  return `${objectKey}${MANIFEST}`;
}

/** The key of a manifest that is to replace the one beside an object. */
export function nextManifestKey(objectKey: string): string {
  return `${objectKey}${MANIFEST}${NEXT}`;
}

/** The key of the object that a manifest is beside, or is to be; undefined for what is no manifest. */
export function objectKeyOf(key: string): string | undefined {
  const manifest = key.endsWith(NEXT) ? key.slice(0, -NEXT.length) : key;
  return manifest.endsWith(MANIFEST) ? manifest.slice(0, -MANIFEST.length) : undefined;
}

function nameTime(startedAt: string): string {
  return timestamp(Date.parse(startedAt)).replace('T', '-').replace('Z', '');
}
