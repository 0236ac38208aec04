/** The sizes of claims. Pure. */
import { DEFAULT_CLAIM_SIZE } from '../api/schemas/default-values.ts';
import type { ClaimSpec } from '../api/schemas/types.ts';

/** The storage that a claim asks for, as it was written. */
export function requestedSize(claim: ClaimSpec | undefined): string {
  const size = claim?.resources?.requests?.['storage'];
  return size === undefined || size === '' ? DEFAULT_CLAIM_SIZE : String(size);
}
