import { mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheDirectory } from '../toolchain/index.ts';
import { ensureCgroup, removeCgroup } from './cgroups.ts';
import type { StackContext, StoredStack } from './context.ts';
import { save } from './context.ts';
import { poll } from './execute.ts';
import { nodeCable, plugIn, removeLink, renderNetwork, setCable } from './network.ts';
import { renderCni, renderContainerd, renderKubelet, renderKubeProxy } from './node-config.ts';
import { nodeStore } from './node-images.ts';
import { ensureNodeCertificates, pkiFile } from './pki.ts';
import { childOf, endProcess, isRunning, recordProcess, startService } from './processes.ts';
import type { NodeState } from './state.ts';

const INIT_SCRIPT = join(import.meta.dirname, 'node-init.sh');

/** Name of a node's process in the state, in logs and in the mark. */
export function nodeComponent(index: number): string {
  return `node-${index}`;
}

/** True while the node is powered on. */
export function nodeIsRunning(context: StoredStack, index: number): boolean {
  return isRunning(context.state.processes[nodeComponent(index)]);
}

/** The recorded node; throws with the nodes there are when there is no such one. */
export function requireNode(context: StoredStack, index: number): NodeState {
  const node = context.state.nodes.find(found => found.index === index);
  if (node !== undefined) return node;
  const known = context.state.nodes.map(found => found.index).join(', ');
  throw new Error(`stack ${context.layout.name} has no node ${index}; it has ${known}`);
}

/** Folders outside the operating system's own ones that a node must see: tools, images, configuration, volumes. */
function keptFolders(context: StackContext): string[] {
  const { toolchain, layout } = context;
  const tools = (['containerd', 'runc', 'kubelet', 'kube-proxy'] as const).map(tool => toolchain.path(tool));
  const folders = [...tools, ...tools.map(tool => realpathSync(tool))].map(dirname);
  const all = [...new Set([cacheDirectory(), layout.directory, toolchain.cniBinDir, ...folders])].sort();
  const system = /^\/(?:usr|etc|bin|sbin|lib|lib32|lib64|libx32|opt)(?:\/|$)/;
  const isInside = (folder: string): boolean => all.some(other => folder.startsWith(`${other}/`));
  return all.filter(folder => !system.test(folder) && !isInside(folder));
}

function writeConfiguration(context: StackContext, index: number): void {
  const { layout, addresses, toolchain } = context;
  const folder = layout.nodeDirectory(index);
  const pause = context.state.images.find(image => /(?:^|\/)pause[:@]/.test(image.reference));
  if (pause === undefined) throw new Error('no pause image among the images of the stack');
  mkdirSync(join(folder, 'cni'), { recursive: true });
  const write = (file: string, content: string): void => writeFileSync(join(folder, file), content);
  write('network', renderNetwork(addresses, addresses.node(index)));
  write('resolv.conf', `nameserver ${addresses.dnsService}\n`);
  write('kubelet.yaml', renderKubelet(context, index));
  write('kube-proxy.yaml', renderKubeProxy(context, index));
  write(join('cni', '10-pods.conflist'), renderCni(addresses.podSubnet(index)));
  write(
    'containerd.toml',
    renderContainerd({
      root: join(nodeStore(context, index), 'root'),
      pauseImage: pause.reference,
      runc: toolchain.path('runc'),
      cniBinDir: toolchain.cniBinDir,
      cniConfDir: join(folder, 'cni'),
    }),
  );
}

function environment(context: StackContext, index: number): Record<string, string> {
  const { layout, addresses, toolchain } = context;
  const tools = [dirname(toolchain.path('containerd')), dirname(toolchain.path('runc'))];
  return {
    PATH: [...tools, process.env['PATH'] ?? '', '/usr/sbin', '/sbin'].join(':'),
    NODE_INDEX: String(index),
    NODE_NAME: layout.nodeName(index),
    NODE_ADDRESS: addresses.node(index),
    NODE_DIR: layout.nodeDirectory(index),
    NODE_KUBECONFIG: pkiFile(context, `node-${index}.conf`),
    NODE_LABELS: `topology.kubernetes.io/zone=z${index}`,
    LOG_DIR: layout.logs,
    KEEP_DIRS: keptFolders(context).join('\n'),
    CONTAINERD: toolchain.path('containerd'),
    KUBELET: toolchain.path('kubelet'),
    KUBE_PROXY: toolchain.path('kube-proxy'),
  };
}

/** Clears what a node leaves on the host when it loses power: its cgroups and its cable. */
async function clearRemains(context: StoredStack, index: number): Promise<void> {
  await removeCgroup(context.layout.nodeCgroup(index));
  await removeLink(context.layout.nodeLink(index));
}

/** Process 1 of the node, once it is there. */
async function initOf(launcher: number, logFile: string): Promise<number> {
  return poll(async () => childOf(launcher), {
    what: `the node's first process (see ${logFile})`,
    timeoutMilliseconds: 10_000,
    intervalMilliseconds: 5,
  });
}

/**
 * Powers a node on; one that runs is left as it is. Its images must have been prepared. Comes back when its
 * first process runs, before its kubelet is ready.
 */
export async function startNode(context: StackContext, index: number): Promise<void> {
  const { layout, state } = context;
  const node = requireNode(context, index);
  if (nodeIsRunning(context, index)) return;
  const component = nodeComponent(index);
  await clearRemains(context, index);
  await ensureNodeCertificates(context, index);
  writeConfiguration(context, index);
  ensureCgroup(layout.nodeCgroup(index));
  const logFile = join(layout.logs, `${component}.log`);
  const namespaces = ['--mount', '--net', '--uts', '--pid', '--ipc', '--propagation', 'slave'];
  const { record, release } = await startService({
    stackId: layout.id,
    component,
    command: 'unshare',
    args: [...namespaces, '--fork', '--kill-child', '--', 'bash', '--norc', INIT_SCRIPT],
    logFile,
    env: environment(context, index),
  });
  state.processes[component] = record;
  save(context);
  try {
    node.init = await initOf(record.pid, logFile);
    await plugIn(layout, nodeCable(context, index), node.init);
  } catch (error) {
    await endProcess(record); // it would wait for its cable forever
    throw error;
  }
  save(context);
  release();
}

/** Powers a node off, like a pulled plug: SIGKILL to everything in it, at once. Its disk stays. */
export async function stopNode(context: StoredStack, index: number): Promise<void> {
  const node = requireNode(context, index);
  const component = nodeComponent(index);
  const launcher = context.state.processes[component];
  if (isRunning(launcher)) {
    // The namespace's first process ends only after everything in the namespace has.
    const init = node.init === undefined ? undefined : recordProcess(node.init, launcher.token);
    await endProcess(init);
    await endProcess(launcher);
  }
  delete context.state.processes[component];
  delete node.init;
  await clearRemains(context, index);
  save(context);
}

/** Pulls a node's cable or plugs it in; it stays that way over a power cycle. */
export async function setConnected(context: StoredStack, index: number, connected: boolean): Promise<void> {
  requireNode(context, index).disconnected = !connected;
  save(context);
  await setCable(context.layout, index, connected ? 'up' : 'down');
}

/** Adds a node that is powered off, unless the stack has it. */
export function addNode(stack: StoredStack, index: number): void {
  const { state } = stack;
  if (state.nodes.some(node => node.index === index)) return;
  state.nodes = [...state.nodes, { index, disconnected: false }].sort(
    (one, other) => one.index - other.index,
  );
}

/** Forgets a node that is powered off, with its disk. */
export function forgetNode(context: StoredStack, index: number): void {
  context.state.nodes = context.state.nodes.filter(node => node.index !== index);
  save(context);
  rmSync(context.layout.nodeDirectory(index), { recursive: true, force: true });
}
