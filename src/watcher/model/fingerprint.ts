/** Fingerprints of what the watcher compares and does not keep. */
import { createHash } from 'node:crypto';
import { canonical } from '../../api/values/canonical.ts';

/** Equal for equal values, and short. */
export function fingerprint(value: unknown): string {
  return createHash('sha256').update(canonical(value)).digest('base64');
}
