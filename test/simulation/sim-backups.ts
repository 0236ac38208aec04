/**
 * Backups, as EtcdBackups leave them in a store, and the volumes that restores bring them onto. A backup holds what the leader
 * had committed; the bytes in the store say which one it is.
 */
import { createHash } from 'node:crypto';
import { type BackupManifest, newManifest } from '../../src/api/derived/backup-manifest.ts';
import { ANNOTATION_BACKUP_ASKED, API_VERSION } from '../../src/api/names.ts';
import type { BackupEntry } from '../../src/api/schemas/types.ts';
import { initialClusterId, initialMemberId } from '../../src/etcd/cluster-id.ts';
import type { WritableObject } from '../../src/kube/port.ts';
import { SNAPSHOT_KEY } from '../../src/objects/seed-pod.ts';
import { snapshotBytes } from '../fakes/etcd/snapshot.ts';
import { FakeStore } from '../fakes/store.ts';
import type { SimEtcd } from './sim-etcd.ts';
import { NAMESPACE, type SimKube } from './sim-kube.ts';
import { flagsOf, keysOf, revisionOf } from './sim-lookups.ts';
import type { Disk, Entry, Process } from './sim-raft.ts';
import { minor } from './sim-versions.ts';

export const BACKUP = 'nightly';
const BUCKET = 'backups';
const SECOND = 'copies';

/** The key in the bucket. */
export function keyOf(path: string): string {
  return path.slice(path.indexOf('/') + 1);
}

/** What a backup holds. */
export interface Snapshot {
  readonly entries: readonly Entry[];
  readonly bump: number;
}

export class SimBackups {
  readonly store: FakeStore;
  /** The second store of the EtcdBackup. */
  readonly second: FakeStore;
  /** Of every backup, as restores name them. */
  readonly paths: string[] = [];
  readonly #kube: SimKube;
  readonly #taken: Snapshot[] = [];
  readonly #volumes = new Map<string, FakeStore>();

  constructor(kube: SimKube) {
    this.#kube = kube;
    this.store = new FakeStore({ location: `s3://${BUCKET}`, now: kube.now });
    this.second = new FakeStore({ location: `s3://${SECOND}`, now: kube.now });
  }

  /** An EtcdBackup of the cluster makes a backup, with its manifest, and lists it. The path that a restore names. */
  take(
    cluster: string,
    { disk, version, clusterId }: Pick<Process, 'disk' | 'version' | 'clusterId'>,
  ): string {
    const number = this.#taken.push({ entries: disk.log.slice(0, disk.commit), bump: disk.bump });
    const database = Buffer.alloc(4096, 7);
    database.writeUInt32LE(number);
    const bytes = snapshotBytes(database);
    const key = `etcd/${number}`;
    const time = new Date(this.#kube.now()).toISOString();
    const entry: BackupEntry = {
      time,
      location: `${this.store.location}/${key}`,
      revision: revisionOf(disk),
      // Every other one is taken of a cluster that is written to.
      ...(number % 2 === 1 && { keys: keysOf(disk, revisionOf(disk)) }),
      size: bytes.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
      etcdVersion: version,
      clusterID: clusterId,
      verified: 'Checksum',
    };
    const manifest = newManifest({
      backup: { namespace: NAMESPACE, name: BACKUP, uid: 'backup' },
      startedAt: time,
      entry,
      compression: 'none',
      snapshot: { size: bytes.length, sha256: '', storageVersion: '' },
    });
    const modifiedAt = this.#kube.now();
    this.store.objects.set(key, { bytes, modifiedAt });
    this.store.objects.set(`${key}.json`, { bytes: Buffer.from(JSON.stringify(manifest)), modifiedAt });
    this.#list(cluster, entry);
    this.paths.push(`${BUCKET}/${key}`);
    return `${BUCKET}/${key}`;
  }

  /** The store of a bucket. */
  storeAt(path: string): FakeStore {
    return path.startsWith(`${SECOND}/`) ? this.second : this.store;
  }

  /** The EtcdBackup names a second store, and has copied this backup there. */
  copy(path: string): void {
    const key = keyOf(path);
    const [object, manifest] = [this.store.objects.get(key), this.store.objects.get(`${key}.json`)];
    const found = this.#kube.peek('EtcdBackup', BACKUP);
    if (object === undefined || manifest === undefined || found === undefined) return;
    const location = `${this.second.location}/${key}`;
    const described = JSON.parse(manifest.bytes.toString('utf8')) as BackupManifest;
    const copied = { ...described, entry: { ...described.entry, location } };
    this.second.objects.set(key, object);
    this.second.objects.set(`${key}.json`, { ...manifest, bytes: Buffer.from(JSON.stringify(copied)) });
    const { history = [] } = (found['status'] ?? {}) as { readonly history?: readonly BackupEntry[] };
    const secondStore = { location, verifiedAt: new Date(this.#kube.now()).toISOString() };
    const marked = history.map(entry =>
      entry.location === `${this.store.location}/${key}`
        ? { ...entry, heldIn: 'Both' as const, secondStore }
        : entry,
    );
    this.#kube.change(found, {
      spec: {
        ...(found['spec'] as object),
        secondStore: { storageType: 'S3', s3: { path: `${SECOND}/etcd`, awsSecret: '' } },
      },
      status: { ...(found['status'] as object), history: marked },
    });
  }

  /** The manifest of a backup names one key more than there is. */
  overstate(path: string): void {
    const key = `${keyOf(path)}.json`;
    const { bytes, ...others } = this.store.objects.get(key) ?? { bytes: Buffer.from(''), modifiedAt: 0 };
    const { entry, ...manifest } = JSON.parse(bytes.toString('utf8')) as BackupManifest;
    const more = { ...manifest, entry: { ...entry, keys: (entry.keys ?? 0) + 1 } };
    this.store.objects.set(key, { ...others, bytes: Buffer.from(JSON.stringify(more)) });
  }

  /** A run of the EtcdBackup has begun after it was asked, and ended like this. */
  ran(outcome: 'Succeeded' | 'Failed'): void {
    const found = this.#kube.peek('EtcdBackup', BACKUP);
    if (found === undefined) return;
    const at = new Date(this.#kube.now()).toISOString();
    const lastRun = { startedAt: at, completedAt: at, outcome, message: 'simulated' };
    this.#kube.change(found, { status: { ...(found['status'] as object), lastRun } });
  }

  /** What the EtcdBackup was asked for and has not done yet. */
  isAsked(): boolean {
    const { metadata, ...others } = this.#kube.peek('EtcdBackup', BACKUP) ?? {};
    const { lastRun } = (others as { status?: { lastRun?: { startedAt: string } } }).status ?? {};
    const asked = metadata?.annotations?.[ANNOTATION_BACKUP_ASKED];
    return asked !== undefined && !(Date.parse(lastRun?.startedAt ?? '') >= Date.parse(asked));
  }

  #list(cluster: string, entry: BackupEntry): void {
    const found = this.#kube.peek('EtcdBackup', BACKUP);
    const { history = [] } = (found?.['status'] ?? {}) as { readonly history?: readonly BackupEntry[] };
    const status = { ...(found?.['status'] as object | undefined), history: [entry, ...history] };
    if (found !== undefined) {
      this.#kube.change(found, { status });
      return;
    }
    this.#kube.create({
      apiVersion: API_VERSION,
      kind: 'EtcdBackup',
      metadata: { name: BACKUP, namespace: NAMESPACE },
      spec: {
        clusterRef: { name: cluster },
        storageType: 'S3',
        s3: { path: `${BUCKET}/etcd`, awsSecret: '' },
      },
      status,
    } as WritableObject);
  }

  /** The files on the volume of a claim, by its uid. */
  volume(claim: string): FakeStore {
    let volume = this.#volumes.get(claim);
    if (volume === undefined) this.#volumes.set(claim, (volume = new FakeStore({ now: this.#kube.now })));
    return volume;
  }

  /** What a disk holds, as far as it is committed, lies on the volume of a claim from now on. */
  copyOnto(claim: string, disk: Pick<Disk, 'log' | 'commit' | 'bump'>): void {
    const number = this.#taken.push({ entries: disk.log.slice(0, disk.commit), bump: disk.bump });
    const bytes = Buffer.alloc(8);
    bytes.writeUInt32LE(number);
    this.volume(claim).objects.set(SNAPSHOT_KEY, { bytes, modifiedAt: this.#kube.now() });
  }

  /** The snapshot that lies on the volume of a claim. */
  snapshotOn(claim: string): Snapshot | undefined {
    const bytes = this.volume(claim).objects.get(SNAPSHOT_KEY)?.bytes;
    return bytes === undefined ? undefined : this.#taken[bytes.readUInt32LE() - 1];
  }
}

/** Makes a member's data of a snapshot, as etcdutl does; a disk that has data keeps it. What the snapshot has must not be lost. */
export function restoreOnto(
  etcd: Pick<SimEtcd, 'disk' | 'restored' | 'acked'>,
  disk: string,
  of: { readonly args: readonly string[]; readonly version: string; readonly snapshot: Snapshot },
): void {
  const onto = etcd.disk(disk);
  if (onto.memberId !== undefined) return;
  unpack(onto, of);
  const { clusterId = '', log } = onto;
  etcd.restored.add(clusterId);
  const index = log.findLastIndex(({ value }) => value !== undefined) + 1;
  const entry = log[index - 1];
  if (entry !== undefined) etcd.acked.set(clusterId, { entry, index });
}

/** What `etcdutl snapshot restore` makes of a snapshot: a cluster of one member, of its own id, with a log of its own. */
function unpack(
  disk: Disk,
  {
    args,
    version,
    snapshot,
  }: { readonly args: readonly string[]; readonly version: string; readonly snapshot: Snapshot },
): void {
  const flags = flagsOf(args);
  const [name = '', peerUrl = ''] = (flags['initial-cluster'] ?? '').split('=');
  const token = flags['initial-cluster-token'] ?? '';
  const id = initialMemberId(token, [peerUrl]);
  const members = {
    rows: [{ id, name, peerUrl, started: false, isLearner: false }],
    removed: new Set<string>(),
  };
  const legacy = minor(version) === '3.5';
  const log = snapshot.entries.map(({ value }) => ({ term: 1, members, value, agreed: '', legacy }));
  Object.assign(disk, {
    memberId: id,
    clusterId: initialClusterId(token, [[peerUrl]]),
    term: 1,
    log,
    commit: log.length,
    bootstrapped: members,
    // A snapshot is the last that it writes.
    snapshotAt: log.length,
    bump: snapshot.bump + Number(flags['bump-revision'] ?? 0),
  });
}
