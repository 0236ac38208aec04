/**
 * How many keys a snapshot holds, reported only where it is certain: counted right before it, by a cluster that nobody wrote to until
 * it had ended. A guess would have a restore refuse a good backup.
 */
import type { KeyCount } from '../../etcd/answers.ts';
import type { EtcdMember } from '../../etcd/port.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { messageOf } from '../../api/values/message-of.ts';

interface Asking {
  readonly deps: Pick<Dependencies, 'logger'>;
}

interface Asked {
  readonly member: Pick<EtcdMember, 'countKeys' | 'linearizableRead'>;
}

/**
 * A linearizable read through the member: everything up to its revision is in a snapshot that is begun now. With the number
 * of keys at that revision, unless the member cannot count them in time or may not be asked. Throws what a read throws.
 */
export async function readBefore(
  { deps }: Asking,
  { member }: Asked,
): Promise<{ readonly revision: string; readonly keys?: number }> {
  try {
    return await member.countKeys();
  } catch (error) {
    deps.logger.info('the keys of the backup are not counted', { error: messageOf(error) });
    return member.linearizableRead();
  }
}

/**
 * The number of keys in a snapshot that has ended, of which this was counted before. Undefined when the cluster was written to
 * meanwhile, since the snapshot may hold part of that, and when nothing shows it.
 */
export async function keysHeld(
  { deps }: Asking,
  { member }: Asked,
  { keys, revision }: KeyCount,
): Promise<number | undefined> {
  try {
    const after = await member.linearizableRead();
    return after.revision === revision ? keys : undefined;
  } catch (error) {
    deps.logger.info('not known whether the cluster was written to during the backup', {
      error: messageOf(error),
    });
    return undefined;
  }
}
