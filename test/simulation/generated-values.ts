/** What generated times, tokens and ids are taken from. */
import { CLUSTER_ID, NAME, NOW, TOKEN, UID } from '../worlds/builders.ts';

export const now = Date.parse(NOW);
/** So many seconds ago, RFC 3339. */
export const before = (seconds: number): string => new Date(now - seconds * 1_000).toISOString();
/** Of this incarnation, of the one before, of one that is kept, of another resource of the same name. */
export const TOKENS = {
  own: TOKEN,
  before: `${NAME}-${UID.slice(0, 8)}-0`,
  kept: `${NAME}-${UID.slice(0, 8)}-90`,
  foreign: `${NAME}-ffffffff-1`,
  none: undefined,
};
export const IDS = { own: CLUSTER_ID, other: 'beef', none: undefined };

/** The uid of the claim that the member was created with. */
export function firstUid(name: string): string {
  return `claim-${name}`;
}
