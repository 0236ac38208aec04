/**
 * Which snapshots may use a store, and the node whose disk they are read from, at once in this replica. A store that hangs keeps its own
 * backups waiting and no others (docs/decisions/0088-backups-of-a-fleet.md).
 */
import { Limiter } from '../../kube/limiter.ts';

export interface BackupTurnsOptions {
  /** What the worker does at once, of all stores. */
  readonly slots: number;
  /** What one store gets of them at most. */
  readonly perStore: number;
  /** Snapshots that are read from one node at once. */
  readonly perNode: number;
}

export class BackupTurns {
  /** By store. */
  readonly stores: Limiter;
  /** Of copies, by their second store: half of the slots at most, since they may last and nobody waits for them. */
  readonly copies: Limiter;
  readonly #perNode: number;
  readonly #nodes = new Map<string, Limiter>();

  constructor({ slots, perStore, perNode }: BackupTurnsOptions) {
    this.stores = new Limiter({ atOnce: slots, perKey: perStore });
    this.copies = new Limiter({ atOnce: Math.max(1, Math.floor(slots / 2)), perKey: perStore });
    this.#perNode = perNode;
  }

  /** The turns at a node, by store: one that hangs gets half of them at most. */
  at(node: string): Limiter {
    const known = this.#nodes.get(node);
    if (known !== undefined) return known;
    // Nodes come and go.
    for (const [name, turns] of this.#nodes) if (turns.taken() === 0) this.#nodes.delete(name);
    const turns = new Limiter({ atOnce: this.#perNode, perKey: Math.ceil(this.#perNode / 2) });
    this.#nodes.set(node, turns);
    return turns;
  }
}

const SHORTEST_SECONDS = 5;
const LONGEST_SECONDS = 120;

/**
 * When a run comes again that waits for its turn: the longer it has waited the more seldom, since a thousand may wait with it.
 * @param chance from 0 to 1: those that began together do not come together
 */
export function secondsToWait(waitedSeconds: number, chance: number): number {
  const seconds = Math.min(LONGEST_SECONDS, Math.max(SHORTEST_SECONDS, waitedSeconds / 4));
  return Math.ceil(seconds * (0.5 + chance));
}
