import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { withLock } from '../toolchain/lock.ts';
import type { Layout } from './layout.ts';
import { layoutOf, stacksDirectory } from './layout.ts';
import { processSchema } from './processes.ts';

const portsSchema = z.object({
  etcd: z.number(),
  etcdPeer: z.number(),
  apiserver: z.number(),
  controllerManager: z.number(),
  scheduler: z.number(),
  dns: z.number(),
  dnsHealth: z.number(),
  dnsReady: z.number(),
});
export type Ports = z.infer<typeof portsSchema>;

const nodeSchema = z.object({
  index: z.number().int().positive(),
  /** The cable is pulled; it stays pulled over a power cycle. */
  disconnected: z.boolean(),
  /** Process 1 of the node's PID namespace, as the host numbers it. */
  init: z.number().optional(),
});
export type NodeState = z.infer<typeof nodeSchema>;

const imageSchema = z.object({ reference: z.string(), archive: z.string(), digest: z.string() });

/** What keeps Temporal's data: the development server's file, or a PostgreSQL under a real server. */
export const TEMPORAL_KINDS = ['development', 'postgres'] as const;
export type TemporalKind = (typeof TEMPORAL_KINDS)[number];

const stateSchema = z.object({
  version: z.literal(1),
  name: z.string(),
  block: z.string(),
  temporal: z.enum(TEMPORAL_KINDS).default('development'),
  ports: portsSchema.optional(),
  nodes: z.array(nodeSchema),
  /** What every node shall hold, also one that joins later. */
  images: z.array(imageSchema),
  processes: z.record(z.string(), processSchema),
  /** Host firewall rules that were added for this stack; see firewall.ts. */
  firewall: z.boolean(),
});
export type State = z.infer<typeof stateSchema>;

/** A stack that has nothing yet but its network. */
export function newState(name: string, block: string): State {
  return {
    version: 1,
    name,
    block,
    temporal: 'development',
    nodes: [],
    images: [],
    processes: {},
    firewall: false,
  };
}

/** Reads a stack's state; undefined when there is no such stack. Throws when the file is not one of ours. */
export function readState(layout: Layout): State | undefined {
  if (!existsSync(layout.stateFile)) return undefined;
  const parsed = stateSchema.safeParse(JSON.parse(readFileSync(layout.stateFile, 'utf8')));
  if (!parsed.success) {
    throw new Error(
      `${layout.stateFile} is not a state of this version: ${z.prettifyError(parsed.error)}; ` +
        `end the stack with the version that made it, or remove ${layout.directory}`,
    );
  }
  return parsed.data;
}

/** Writes a stack's state so that a reader, or a crash, sees the old one or the new one and nothing between. */
export function writeState(layout: Layout, state: State): void {
  mkdirSync(layout.directory, { recursive: true });
  const partial = `${layout.stateFile}.${process.pid}.partial`;
  writeFileSync(partial, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  renameSync(partial, layout.stateFile);
}

/** Serialises everything that changes one stack, over all processes of the machine; `onWait` hears of a wait. */
export function withStack<T>(
  layout: Layout,
  work: () => Promise<T>,
  onWait?: (message: string) => void,
): Promise<T> {
  return withLock(layout.lockFile, onWait, work);
}

/** Serialises the choice of a network, so that two stacks that are born at once do not choose the same one. */
export function withAllStacks<T>(work: () => Promise<T>): Promise<T> {
  return withLock(join(stacksDirectory(), '.lock'), undefined, work);
}

/** Names of all stacks that have a state, running or not. */
export function stackNames(): string[] {
  if (!existsSync(stacksDirectory())) return [];
  return readdirSync(stacksDirectory()).filter(
    name => !name.startsWith('.') && existsSync(join(stacksDirectory(), name, 'state.json')),
  );
}

/** Networks of all other stacks, running or not. */
export function otherBlocks(name: string): string[] {
  return stackNames().flatMap(other => {
    const state = other === name ? undefined : readState(layoutOf(other));
    return state === undefined ? [] : [state.block];
  });
}
