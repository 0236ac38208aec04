import type { PlacedStack } from './context.ts';
import { placedStack } from './context.ts';
import { HOST_COMPONENTS } from './control-plane.ts';
import { readImageRecord } from './image-store.ts';
import { layoutOf } from './layout.ts';
import { nodeStore } from './node-images.ts';
import { nodeComponent } from './nodes.ts';
import { hasPostgres } from './postgres.ts';
import { isRunning, processTree, residentBytes } from './processes.ts';
import { readyNodes, withKubeApi } from './readiness.ts';
import { temporalAddress, temporalUi } from './temporal.ts';

export interface ComponentStatus {
  name: string;
  running: boolean;
  pid?: number;
  /** Of the process with everything below it. */
  residentBytes: number;
}

export interface NodeStatus extends ComponentStatus {
  address: string;
  cable: 'plugged' | 'pulled';
  /** What the API server says; `unknown` when it does not answer. */
  ready: boolean | 'unknown';
  images: number;
}

export interface StackStatus {
  name: string;
  directory: string;
  network: string;
  kubeconfig: string;
  temporalAddress: string;
  temporalUi: string;
  running: boolean;
  components: ComponentStatus[];
  nodes: NodeStatus[];
  /** Sum over all processes; pages that several share count for each. */
  residentBytes: number;
  /** The same, but a page that n processes share counts 1/n for each. */
  proportionalBytes: number;
}

function rootsOf(context: PlacedStack): number[] {
  return Object.values(context.state.processes)
    .filter(isRunning)
    .map(record => record.pid);
}

function sum(pids: readonly number[], proportional: boolean): number {
  return pids.reduce((bytes, pid) => bytes + residentBytes(pid, proportional), 0);
}

function componentStatus(context: PlacedStack, name: string): ComponentStatus {
  const record = context.state.processes[name];
  if (!isRunning(record)) return { name, running: false, residentBytes: 0 };
  return { name, running: true, pid: record.pid, residentBytes: sum(processTree([record.pid]), false) };
}

async function askReady(context: PlacedStack): Promise<Map<string, number> | undefined> {
  try {
    return await withKubeApi(context, readyNodes);
  } catch {
    return undefined; // no answer is an answer: the API server is down
  }
}

/** What runs of a stack, and how it is. Throws when there is no stack of that name. */
export async function statusOf(name = 'demo'): Promise<StackStatus> {
  const context = placedStack(layoutOf(name));
  const { layout, state } = context;
  const ready = await askReady(context);
  const all = processTree(rootsOf(context));
  const nodes = state.nodes.map((node): NodeStatus => {
    const images = Object.keys(readImageRecord(nodeStore(context, node.index))).length;
    return {
      ...componentStatus(context, nodeComponent(node.index)),
      name: layout.nodeName(node.index),
      address: context.addresses.node(node.index),
      cable: node.disconnected ? 'pulled' : 'plugged',
      ready: ready === undefined ? 'unknown' : ready.has(layout.nodeName(node.index)),
      images,
    };
  });
  const components = HOST_COMPONENTS.filter(
    component => component !== 'postgres' || hasPostgres(context),
  ).map(component => componentStatus(context, component));
  return {
    name,
    directory: layout.directory,
    network: state.block,
    kubeconfig: layout.kubeconfig,
    temporalAddress: temporalAddress(context),
    temporalUi: temporalUi(context),
    running: [...components, ...nodes].some(component => component.running),
    components,
    nodes,
    residentBytes: sum(all, false),
    proportionalBytes: sum(all, true),
  };
}
