/** Ports for servers that are started by tests. */
import { createServer } from 'node:net';

/** Ports that this process has given away, whether or not they are in use yet. */
const given = new Set<number>();

/** Below those that the kernel gives to outgoing connections, so that nobody takes one before its server listens on it. */
const RANGE = { first: 15_000, count: 15_000 };

const MOST_TRIES = 1_000;

/** A port that is free on every address. @throws Error when none is found */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const port = RANGE.first + Math.floor(Math.random() * RANGE.count);
    if (given.has(port)) continue;
    given.add(port);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port among the ${RANGE.count} from ${RANGE.first}`);
}

/** Free ports, one for each name. */
export async function freePorts<Name extends string>(
  ...names: readonly Name[]
): Promise<Record<Name, number>> {
  const found = await Promise.all(names.map(async name => [name, await freePort()] as const));
  return Object.fromEntries(found) as Record<Name, number>;
}

/** Starts something on a free port; on another one when somebody has taken that meanwhile, as a test in another process may. */
export async function onFreePort<Started>(
  start: (port: number) => Promise<Started>,
  tries = 3,
): Promise<{ readonly port: number; readonly started: Started }> {
  const port = await freePort();
  try {
    return { port, started: await start(port) };
  } catch (error) {
    if (tries <= 1 || !String(error).includes('address already in use')) throw error;
    return onFreePort(start, tries - 1);
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '0.0.0.0', () => server.close(() => resolve(true)));
  });
}
