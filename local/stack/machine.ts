import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { z } from 'zod';
import type { Progress } from '../progress.ts';
import { execute } from './execute.ts';

const OTHER_ROAD =
  'The other road is any existing cluster, kind included: point KUBECONFIG at it and TEMPORAL_ADDRESS at a ' +
  'Temporal server.';

/** Programs of the operating system that the stack calls, and the Debian package of each. */
const PROGRAMS: Readonly<Record<string, string>> = {
  ip: 'iproute2',
  nsenter: 'util-linux',
  unshare: 'util-linux',
  setpriv: 'util-linux',
  flock: 'util-linux',
  mount: 'mount',
  umount: 'mount',
  losetup: 'mount',
  pivot_root: 'util-linux',
  iptables: 'iptables',
  'mkfs.xfs': 'xfsprogs',
  xfs_growfs: 'xfsprogs',
  cp: 'coreutils',
  bash: 'bash',
};

/** Who asks, and where; the default is this process. */
export interface Platform {
  system: string;
  userId: number | undefined;
  /** Where cgroups are mounted. */
  cgroups: string;
}

/** Fails with one plain sentence where a stack cannot run: not Linux, not root, or no cgroups. */
export function checkPlatform(platform: Partial<Platform> = {}): void {
  const { system, userId, cgroups }: Platform = {
    system: process.platform,
    userId: process.getuid?.(),
    cgroups: '/sys/fs/cgroup',
    ...platform,
  };
  if (system !== 'linux') {
    throw new Error(`The local stack needs Linux; this machine runs ${system}. ${OTHER_ROAD}`);
  }
  if (userId !== 0) {
    throw new Error(`The local stack needs root, for namespaces and mounts: run it with sudo. ${OTHER_ROAD}`);
  }
  if (!existsSync(join(cgroups, 'cgroup.controllers')) && !existsSync(join(cgroups, 'memory'))) {
    throw new Error(`The local stack needs cgroups (v1 or v2) mounted at ${cgroups}. ${OTHER_ROAD}`);
  }
}

function missingPrograms(): string[] {
  const folders = (process.env['PATH'] ?? '').split(':').filter(folder => folder !== '');
  return Object.keys(PROGRAMS).filter(name => !folders.some(folder => existsSync(join(folder, name))));
}

/**
 * Makes sure that the operating system's programs are there. On Debian and its kin what is missing is installed;
 * elsewhere the error names the programs and the packages Debian has them in.
 */
export async function ensurePrograms(progress: Progress): Promise<void> {
  const packages = [...new Set(missingPrograms().map(name => PROGRAMS[name] ?? name))];
  if (packages.length === 0) return;
  if (!existsSync('/usr/bin/apt-get')) {
    const names = missingPrograms().join(', ');
    throw new Error(`missing on PATH: ${names} (in Debian's packages ${packages.join(', ')}); install them`);
  }
  await progress.step(`install ${packages.join(', ')}`, async () => {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    const install = ['install', '--yes', '--quiet', '--no-install-recommends', ...packages];
    try {
      await execute('apt-get', install, { env });
    } catch {
      await execute('apt-get', ['update', '--quiet'], { env }); // the package lists may be absent or old
      await execute('apt-get', install, { env });
    }
  });
}

const routesSchema = z.array(z.object({ dst: z.string() }));
const linksSchema = z.array(
  z.object({
    ifname: z.string().optional(),
    addr_info: z
      .array(z.object({ local: z.string().optional(), prefixlen: z.number().optional() }))
      .default([]),
  }),
);

/** Every IPv4 network that the machine has an address in, a route to, or a resolver in; not those of `bridge`. */
export async function usedNetworks(bridge: string): Promise<string[]> {
  const routes = JSON.parse(await execute('ip', ['-4', '-json', 'route', 'show', 'table', 'all'])) as unknown;
  const links = JSON.parse(await execute('ip', ['-4', '-json', 'addr'])) as unknown;
  const isOurs = (value: unknown): boolean =>
    typeof value === 'object' && value !== null && 'dev' in value && value.dev === bridge;
  const foreign = Array.isArray(routes) ? routes.filter(route => !isOurs(route)) : [];
  const destinations = routesSchema.parse(foreign).map(route => route.dst);
  const addresses = linksSchema
    .parse(links)
    .filter(link => link.ifname !== bridge)
    .flatMap(link => link.addr_info)
    .flatMap(({ local, prefixlen }) => (local === undefined ? [] : [`${local}/${prefixlen ?? 32}`]));
  const resolvers = existsSync('/etc/resolv.conf')
    ? [...readFileSync('/etc/resolv.conf', 'utf8').matchAll(/^nameserver\s+(\S+)/gm)].map(
        match => match[1] ?? '',
      )
    : [];
  return [...destinations, ...addresses, ...resolvers];
}

function isFree(address: string, port: number): Promise<boolean> {
  return new Promise(resolve => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ host: address, port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/**
 * The first free TCP port from `preferred` upwards on an address of this machine. The address is the stack's
 * own, so a port is taken only where something listens on all addresses.
 */
export async function choosePort(
  address: string,
  preferred: number,
  avoid: ReadonlySet<number>,
): Promise<number> {
  for (let port = preferred; port < preferred + 200; port += 1) {
    if (!avoid.has(port) && (await isFree(address, port))) return port;
  }
  throw new Error(`no free port from ${preferred} to ${preferred + 199} on ${address}`);
}
