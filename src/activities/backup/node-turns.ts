/**
 * Which snapshots may be read at once from the members on one node in this replica: they share its disk, whichever clusters they belong to.
 * At each node the stores share the turns as they share the slots of the worker, so that a store that hangs does not keep all of them.
 */
import { Turns } from './turns.ts';

export interface NodeTurnsOptions {
  /** Snapshots that are read from one node at once. */
  readonly perNode: number;
  /** Milliseconds from an arbitrary start. */
  readonly now: () => number;
}

export class NodeTurns {
  readonly #options: NodeTurnsOptions;
  readonly #nodes = new Map<string, Turns>();

  constructor(options: NodeTurnsOptions) {
    this.#options = options;
  }

  /** The turns at a node, by store. */
  at(node: string): Turns {
    const known = this.#nodes.get(node);
    if (known !== undefined) return known;
    // Nodes come and go.
    for (const [name, of] of this.#nodes) if (of.isIdle) this.#nodes.delete(name);
    const { perNode, now } = this.#options;
    const turns = new Turns({ slots: perNode, perStore: Math.ceil(perNode / 2), now });
    this.#nodes.set(node, turns);
    return turns;
  }
}
