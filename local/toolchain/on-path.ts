import { constants } from 'node:fs';
import { access, open } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { runCommand } from './command.ts';

import { corednsVersion, helmVersion, kubernetesVersion, temporalVersion } from './versions.ts';
/** How a tool that the machine has already is recognised as the right one. */
interface Probe {
  /** The command's name on PATH. */
  command: string;
  /** What prints its version. */
  args: readonly string[];
  /** Whether the printed text is of a version that will do. */
  accepts: (output: string) => boolean;
  /** Whether only a statically linked program will do, because it goes into an image as well. */
  static?: boolean;
}

/** Folders where CNI plugins are installed by packages and by hand. */
const cniFolders = ['/usr/lib/cni', '/opt/cni/bin'];

const cniPlugins = ['bridge', 'host-local', 'loopback', 'portmap'];

/** The file on PATH for a command, or undefined. */
export async function findOnPath(
  command: string,
  path = process.env['PATH'] ?? '',
): Promise<string | undefined> {
  for (const folder of path.split(delimiter)) {
    if (folder !== '' && (await isExecutable(join(folder, command)))) return join(folder, command);
  }
  return undefined;
}

/**
 * The tool's path if this machine has it in a version that will do, else undefined. Tools without a rule here
 * (the project's own programs) are never on PATH.
 */
export async function findSuitable(tool: string): Promise<string | undefined> {
  if (tool === 'cni-plugins') return findCniPlugins();
  const probe = probeFor(tool);
  if (probe === undefined) return undefined;
  const file = await findOnPath(probe.command);
  if (file === undefined) return undefined;
  if (probe.static === true && !(await isStatic(file))) return undefined;
  const output = await runCommand(file, probe.args).catch(() => '');
  if (!probe.accepts(output)) return undefined;
  if (tool === 'containerd' && (await findOnPath('containerd-shim-runc-v2')) === undefined) return undefined;
  return file;
}

function probeFor(tool: string): Probe | undefined {
  const [name = '', version = ''] = tool.split('@');
  const exactly = (text: string) => (output: string) =>
    new RegExp(`(^|[^\\d.])v?${text.replaceAll('.', '\\.')}($|[^\\d.])`, 'm').test(output);
  const probes: Record<string, Probe> = {
    // From 1.6 on it has the CRI that this Kubernetes speaks; 2.x reads another configuration.
    containerd: {
      command: 'containerd',
      args: ['--version'],
      accepts: output => / v?1\.[67]\./.test(output),
    },
    ctr: { command: 'ctr', args: ['--version'], accepts: output => / v?1\.[67]\./.test(output) },
    runc: { command: 'runc', args: ['--version'], accepts: output => /runc version 1\.[1-9]/.test(output) },
    kubectl: { command: 'kubectl', args: ['version', '--client'], accepts: exactly(kubernetesVersion) },
    helm: { command: 'helm', args: ['version', '--short'], accepts: exactly(helmVersion) },
    prometheus: {
      command: 'prometheus',
      args: ['--version'],
      accepts: output => /version (2\.(3[6-9]|[4-9]\d)|3)\./.test(output),
    },
    // From 2.36 on it knows the notation of the tests.
    promtool: {
      command: 'promtool',
      args: ['--version'],
      accepts: output => /version (2\.(3[6-9]|[4-9]\d)|3)\./.test(output),
    },
    zsh: { command: 'zsh', args: ['--version'], accepts: output => output.startsWith('zsh 5.') },
    // From 3.4 on it knows "$(…)" and what completion of today needs.
    fish: {
      command: 'fish',
      args: ['--version'],
      accepts: output => /version (3\.([4-9]|\d\d)|[4-9])/.test(output),
    },
    temporal: { command: 'temporal', args: ['--version'], accepts: exactly(temporalVersion), static: true },
    etcd: { command: 'etcd', args: ['--version'], accepts: exactly(version), static: true },
    etcdctl: { command: 'etcdctl', args: ['version'], accepts: exactly(version), static: true },
    etcdutl: { command: 'etcdutl', args: ['version'], accepts: exactly(version), static: true },
    coredns: { command: 'coredns', args: ['--version'], accepts: exactly(corednsVersion) },
  };
  for (const component of [
    'kube-apiserver',
    'kube-controller-manager',
    'kube-scheduler',
    'kubelet',
    'kube-proxy',
  ]) {
    probes[component] = { command: component, args: ['--version'], accepts: exactly(kubernetesVersion) };
  }
  return probes[name];
}

async function findCniPlugins(): Promise<string | undefined> {
  for (const folder of cniFolders) {
    const present = await Promise.all(cniPlugins.map(plugin => isExecutable(join(folder, plugin))));
    if (present.every(Boolean)) return folder;
  }
  return undefined;
}

async function isExecutable(file: string): Promise<boolean> {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Whether an ELF file needs no loader: it has no program header of type PT_INTERP (elf(5)). */
export async function isStatic(file: string): Promise<boolean> {
  const handle = await open(file);
  try {
    const header = Buffer.alloc(64);
    await handle.read(header, 0, 64, 0);
    const elf64LittleEndian =
      header.toString('latin1', 0, 4) === '\x7fELF' && header[4] === 2 && header[5] === 1;
    if (!elf64LittleEndian) return false;
    const entrySize = header.readUInt16LE(54);
    const entries = header.readUInt16LE(56);
    const table = Buffer.alloc(entrySize * entries);
    await handle.read(table, 0, table.length, Number(header.readBigUInt64LE(32)));
    for (let entry = 0; entry < entries; entry++) {
      const interpreter = 3;
      if (table.readUInt32LE(entry * entrySize) === interpreter) return false;
    }
    return true;
  } finally {
    await handle.close();
  }
}
