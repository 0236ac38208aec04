import type { Progress } from '../progress.ts';
import type { Toolchain } from '../toolchain/index.ts';
import type { Addresses } from './addresses.ts';
import { addressesOf } from './addresses.ts';
import type { Layout } from './layout.ts';
import type { Ports, State } from './state.ts';
import { readState, writeState } from './state.ts';

/** A stack as its state file has it: enough to stop things, without a toolchain. */
export interface StoredStack {
  layout: Layout;
  state: State;
}

/** A stack with its addresses: enough to talk to what runs of it. */
export interface PlacedStack extends StoredStack {
  addresses: Addresses;
}

/** Everything that a change to one stack works on. Its holder also holds the stack's lock. */
export interface StackContext extends PlacedStack {
  toolchain: Toolchain;
  progress: Progress;
}

/** What a command line said. */
export interface CommandInput {
  name: string;
  words: string[];
  options: Record<string, string | boolean | undefined>;
}

export interface ContextInput extends StoredStack {
  toolchain: Toolchain;
  progress: Progress;
}

/** A stack that must exist, as its state file has it. */
export function placedStack(layout: Layout): PlacedStack {
  const state = requireState(layout);
  return { layout, state, addresses: addressesOf(state.block) };
}

/** Makes the record that the parts of a stack are given. */
export function contextOf(input: ContextInput): StackContext {
  return { ...input, addresses: addressesOf(input.state.block) };
}

/** Reads the state of a stack that must exist, and says how to make one otherwise. */
export function requireState(layout: Layout): State {
  const state = readState(layout);
  if (state === undefined) {
    throw new Error(`there is no stack ${layout.name}; \`local up --name ${layout.name}\` makes one`);
  }
  return state;
}

/** Ports of a stack that has been started at least once. */
export function portsOf(context: StoredStack): Ports {
  if (context.state.ports === undefined) {
    throw new Error(`stack ${context.layout.name} has never been started; \`local up\` starts it`);
  }
  return context.state.ports;
}

/** Puts the changed state on disk. */
export function save(context: StoredStack): void {
  writeState(context.layout, context.state);
}
