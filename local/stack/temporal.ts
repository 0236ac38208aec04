import { mkdirSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import type { PlacedStack, StackContext } from './context.ts';
import type { Program } from './control-plane.ts';
import { execute, poll } from './execute.ts';
import { macAddress } from './layout.ts';
import { renderNetwork } from './network.ts';
import { hasPostgres, temporalServerProgram } from './postgres.ts';

export const TEMPORAL_PORT = 7233;
export const TEMPORAL_UI_PORT = 8233;

/** Address of the stack's Temporal frontend, as clients on the host and in pods reach it. */
export function temporalAddress(context: PlacedStack): string {
  return `${context.addresses.temporal}:${TEMPORAL_PORT}`;
}

/** Address of the stack's Temporal UI for a browser on this machine. */
export function temporalUi(context: PlacedStack): string {
  return `http://${context.addresses.temporal}:${TEMPORAL_UI_PORT}`;
}

/** The stack's Temporal: a real server on PostgreSQL where that was asked for. */
export function temporalProgram(context: StackContext): Program {
  return hasPostgres(context)
    ? temporalServerProgram(context, TEMPORAL_UI_PORT)
    : developmentServerProgram(context);
}

/**
 * Temporal's development server on a database file. It has a network namespace of its own, because its services
 * look for each other on 127.0.0.1 whatever address it is given, and so must listen on all: there, all is its
 * own. Its timers stay as coarse as those of any server that nobody tuned: the operator has to be fast all the same.
 */
function developmentServerProgram(context: StackContext): Program {
  const { layout, addresses, toolchain } = context;
  mkdirSync(dirname(layout.temporalDatabase), { recursive: true });
  return {
    command: toolchain.path('temporal'),
    isolation: {
      cable: { link: layout.temporalLink, mac: macAddress(layout, 'temporal'), position: 'up' },
      network: renderNetwork(addresses, addresses.temporal),
    },
    args: [
      'server',
      'start-dev',
      `--db-filename=${layout.temporalDatabase}`,
      '--sqlite-pragma=journal_mode=WAL',
      '--sqlite-pragma=synchronous=NORMAL',
      '--ip=0.0.0.0',
      `--port=${TEMPORAL_PORT}`,
      '--ui-ip=0.0.0.0',
      `--ui-port=${TEMPORAL_UI_PORT}`,
      '--namespace=default',
      '--log-level=warn',
    ],
  };
}

/**
 * Waits until the frontend serves, and its first namespace exists: only the development server makes `default` by itself. `broken`
 * ends the wait early.
 */
export async function waitForTemporal(
  context: StackContext,
  broken: () => string | undefined,
): Promise<void> {
  const args = [
    'operator',
    'namespace',
    'describe',
    `--namespace=${hasPostgres(context) ? 'temporal-system' : 'default'}`,
    `--address=${temporalAddress(context)}`,
  ];
  const probe = [...args, '--command-timeout=3s'];
  await poll(
    async () => {
      await execute(context.toolchain.path('temporal'), probe, { timeoutMilliseconds: 5000 });
      return true;
    },
    { what: 'Temporal to serve', timeoutMilliseconds: 60_000, intervalMilliseconds: 200, broken },
  );
}

/** Deletes the database with everything Temporal knows. The server must not be running. */
export function deleteTemporalDatabase(context: StackContext): void {
  rmSync(dirname(context.layout.temporalDatabase), { recursive: true, force: true });
}
