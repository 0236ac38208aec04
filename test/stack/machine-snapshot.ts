/** What a local stack could leave behind on the machine, as sets of lines that can be compared. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { cgroupTree } from '../../local/stack/cgroups.ts';
import { execute } from '../../local/stack/execute.ts';
import { layoutOf } from '../../local/stack/layout.ts';
import { parseMountPoints } from '../../local/stack/mounts.ts';
import { stackNames } from '../../local/stack/state.ts';

export type Snapshot = Readonly<Record<string, ReadonlySet<string>>>;

const lines = (text: string): string[] => text.split('\n').filter(line => line.trim() !== '');

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // the process has ended meanwhile
  }
}

function link(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

/** Network namespaces with the mark of their processes' stack, or the command where there is none. */
function networkNamespaces(): string[] {
  const ours = link('/proc/self/ns/net');
  return readdirSync('/proc')
    .filter(entry => /^\d+$/.test(entry))
    .flatMap(pid => {
      const namespace = link(`/proc/${pid}/ns/net`);
      if (namespace === '' || namespace === ours) return [];
      const cgroup = read(`/proc/${pid}/cgroup`).replaceAll('\n', ' ');
      return [`${namespace} ${read(`/proc/${pid}/environ`).replaceAll('\0', ' ')} ${cgroup}`];
    });
}

/** Processes by command line and environment; the numbers of processes say nothing. */
function processes(): string[] {
  return readdirSync('/proc')
    .filter(entry => /^\d+$/.test(entry))
    .map(pid => `${read(`/proc/${pid}/cmdline`)} ${read(`/proc/${pid}/environ`)}`.replaceAll('\0', ' '));
}

/**
 * Takes stock. Other users's stacks come and go meanwhile, so what belongs to a stack not in `names` is left
 * out; of processes only those that name one of the stacks' folders count, since any machine starts others.
 */
export async function takeSnapshot(names: readonly string[]): Promise<Snapshot> {
  const own = names.map(name => layoutOf(name));
  const others = stackNames()
    .filter(name => !names.includes(name))
    .map(name => layoutOf(name));
  const marks = others.flatMap(other => [other.id, other.bridge.slice(0, -2), `${other.directory}/`]);
  const foreign = (line: string): boolean => marks.some(mark => line.includes(mark));
  const set = (found: readonly string[]): Set<string> => new Set(found.filter(line => !foreign(line)));
  return {
    links: set(lines(await execute('ip', ['-brief', 'link'])).map(line => line.split(/[\s@]/)[0] ?? '')),
    routes: set(lines(await execute('ip', ['route', 'show', 'table', 'all']))),
    rules: set(lines(await execute('iptables-save', [])).filter(line => !/^[#:]/.test(line))),
    mounts: set(parseMountPoints(readFileSync('/proc/self/mountinfo', 'utf8'))),
    loops: set(lines(await execute('losetup', ['--list', '--noheadings', '--output', 'BACK-FILE']))),
    cgroups: set(
      readdirSync('/sys/fs/cgroup').flatMap(hierarchy => cgroupTree(join('/sys/fs/cgroup', hierarchy))),
    ),
    namedNamespaces: set(lines(await execute('ip', ['netns', 'list']))),
    namespaces: set(networkNamespaces()),
    processes: set(
      processes().filter(line =>
        own.some(({ id, directory }) => line.includes(id) || line.includes(directory)),
      ),
    ),
  };
}

/** What is in `after` and was not in `before`, kind by kind; empty kinds are left out. */
export function difference(before: Snapshot, after: Snapshot): Record<string, string[]> {
  const added = Object.entries(after).map(([kind, found]): [string, string[]] => [
    kind,
    [...found].filter(line => !before[kind]?.has(line)),
  ]);
  return Object.fromEntries(added.filter(([, found]) => found.length > 0));
}
