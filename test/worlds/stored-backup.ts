/** A backup that is in its store in memory, and verifications of it that users ask for. */
import type { EtcdBackupSpec } from '../../src/api/schemas/types.ts';
import type { WantedVerification } from '../../src/api/values/requests.ts';
import { snapshotStream } from '../fakes/etcd/snapshot.ts';
import { BackupWorld, SPEC } from './backup-world.ts';

export const DATABASE = Buffer.alloc(16 * 512, 'etcd');
export const LOCATION = 's3://backups/etcd/example';
/** Of the EtcdRequest. */
export const UID = '5c1f6a51-8a64-4b52-9f3c-0d0f6f6f7a01';

/** A world with one backup in its store. */
export async function backedUp(spec: Partial<EtcdBackupSpec> = {}): Promise<BackupWorld> {
  const world = new BackupWorld({ ...SPEC, ...spec });
  world.etcd.snapshotOf = () => snapshotStream(DATABASE, 3_000);
  await world.run();
  world.events.length = 0;
  return world;
}

/** Somebody creates an EtcdRequest VerifyBackup; done twice it is the same. */
export function askToVerify(
  world: BackupWorld,
  { location, level, cluster }: WantedVerification = {},
  uid = UID,
): void {
  world.ask(
    {
      action: 'VerifyBackup',
      by: 'ana',
      reason: 'an audit',
      ...(location !== undefined && { location }),
      ...(level !== undefined && { verify: level }),
      ...(cluster !== undefined && { clusterRef: { name: cluster } }),
    },
    uid,
  );
}
