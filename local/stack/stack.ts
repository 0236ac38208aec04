import { rmSync } from 'node:fs';
import type { Image } from '../images/index.ts';
import { silentProgress } from '../progress.ts';
import { POSTGRES_TOOLS } from '../temporal/postgres.ts';
import type { Toolchain } from '../toolchain/index.ts';
import { ensureToolchain } from '../toolchain/index.ts';
import type { StackContext } from './context.ts';
import { contextOf, requireState, save } from './context.ts';
import { restoreDisk, slowDisk } from './disk.ts';
import { execute } from './execute.ts';
import { layoutOf } from './layout.ts';
import { checkPlatform } from './machine.ts';
import { removeNodeVolumes } from './mounts.ts';
import { hasPostgres, runSql } from './postgres.ts';
import { prepareStores, refreshAllNodes, refreshNodeImages, wantImages } from './node-images.ts';
import {
  addNode,
  forgetNode,
  nodeIsRunning,
  requireNode,
  setConnected,
  startNode,
  stopNode,
} from './nodes.ts';
import { startPostgres, startTemporal } from './start-temporal.ts';
import { waitForApiserver, waitForNodes, withKubeApi } from './readiness.ts';
import { componentIsRunning, startComponent, stopComponent } from './services.ts';
import { withStack } from './state.ts';
import { deleteTemporalDatabase, temporalAddress, temporalUi } from './temporal.ts';

/** What can be done to one node. Nodes are numbered from 1; every verb is harmless when it is so already. */
interface NodeVerbs {
  /** Pulls the plug: SIGKILL to everything in the node at once. Its disk stays. */
  stop(node: number): Promise<void>;
  /** Powers on, also a node that was removed (it comes back empty); waits until it is Ready if it can be. */
  start(node: number): Promise<void>;
  /** Pulls the plug, throws the disk away with its volumes, deletes the Node object. */
  remove(node: number): Promise<void>;
  /** Pulls the network cable, until `connect`, also over a power cycle. */
  disconnect(node: number): Promise<void>;
  connect(node: number): Promise<void>;
  /** Runs a program inside the node's namespaces, for example iptables to cut one port; gives its output. */
  run(node: number, command: string, ...args: string[]): Promise<string>;
}

/** What can be done to a server of the stack. */
interface ServerVerbs {
  /** Ends it and waits until it has ended. */
  stop(): Promise<void>;
  /** Starts it and waits until it serves. */
  start(): Promise<void>;
}

/** A stack that has been brought up; everything on it may be called from several places at once. */
export interface Stack {
  name: string;
  /** Path of the administrator's kubeconfig. */
  kubeconfig: string;
  /** host:port of Temporal's frontend, for the host; pods use temporal-frontend.temporal.svc:7233. */
  temporalAddress: string;
  /** Address of Temporal's UI for a browser on this machine. */
  temporalUi: string;
  /** Node names, in the order of their numbers. */
  nodes: string[];
  node: NodeVerbs;
  temporal: ServerVerbs & {
    /** Deletes the database; a server that ran runs again afterwards, empty. */
    wipe(): Promise<void>;
  };
  /** The database under Temporal, where the stack has one. */
  postgres: ServerVerbs & {
    /** Runs SQL as its administrator and gives what it prints. */
    sql(statement: string): Promise<string>;
  };
  apiserver: ServerVerbs;
  disk: {
    /** Lets a node's pods write only a few times per second; throws a plain sentence where the machine cannot. */
    slow(node: number): Promise<void>;
    restore(node: number): Promise<void>;
  };
  /** Brings images to every node, present and future; gives the references that some node did not hold yet. */
  loadImages(images: readonly Image[]): Promise<string[]>;
  /** Runs kubectl as administrator and gives its output; throws with what it said when it fails. */
  kubectl(...args: string[]): Promise<string>;
  toolchain: Toolchain;
}

type Change = <T>(work: (context: StackContext) => Promise<T>) => Promise<T>;

async function startOne(change: Change, node: number): Promise<void> {
  const begun = Date.now();
  const started = await change(async context => {
    if (nodeIsRunning(context, node)) return undefined;
    addNode(context, node);
    save(context);
    await prepareStores(context);
    await startNode(context, node);
    return context;
  });
  // Not under the lock: several nodes may be started at once.
  if (started === undefined || requireNode(started, node).disconnected) return;
  if (!componentIsRunning(started, 'apiserver')) return;
  await waitForNodes(started, { indexes: [node], since: begun });
  await refreshNodeImages(started, node);
}

async function removeOne(context: StackContext, node: number): Promise<void> {
  await stopNode(context, node);
  await withKubeApi(context, async api => {
    const { status, text } = await api.call('DELETE', `/api/v1/nodes/${context.layout.nodeName(node)}`);
    if (status !== 200 && status !== 404) throw new Error(`cannot delete the Node object: ${text}`);
  });
  rmSync(await removeNodeVolumes(context.layout, node), { recursive: true, force: true });
  forgetNode(context, node);
}

async function runOn(change: Change, node: number, command: readonly string[]): Promise<string> {
  const init = await change(async context => requireNode(context, node).init);
  if (init === undefined) throw new Error(`node ${node} is powered off`);
  const namespaces = ['--mount', '--net', '--uts', '--ipc', '--pid'];
  return execute('nsenter', [`--target=${init}`, ...namespaces, '--', ...command]);
}

function nodeVerbs(change: Change): NodeVerbs {
  return {
    stop: node => change(context => stopNode(context, node)),
    start: node => startOne(change, node),
    remove: node => change(context => removeOne(context, node)),
    disconnect: node => change(context => setConnected(context, node, false)),
    connect: node => change(context => setConnected(context, node, true)),
    run: (node, ...command) => runOn(change, node, command),
  };
}

function temporalVerbs(change: Change): Stack['temporal'] {
  return {
    stop: () => change(context => stopComponent(context, 'temporal')),
    start: () => change(startTemporal),
    wipe: () =>
      change(async context => {
        const ran = componentIsRunning(context, 'temporal');
        await stopComponent(context, 'temporal');
        await stopComponent(context, 'postgres');
        deleteTemporalDatabase(context);
        if (ran) await startTemporal(context);
      }),
  };
}

function postgresVerbs(change: Change): Stack['postgres'] {
  const checked = (context: StackContext): StackContext => {
    if (hasPostgres(context)) return context;
    throw new Error(
      `stack ${context.layout.name} has no PostgreSQL: \`local up --temporal postgres\` makes one with it`,
    );
  };
  return {
    stop: () => change(context => stopComponent(checked(context), 'postgres')),
    start: () => change(context => startPostgres(checked(context))),
    sql: statement => change(context => runSql(checked(context), statement)),
  };
}

function apiserverVerbs(change: Change): ServerVerbs {
  return {
    stop: () => change(context => stopComponent(context, 'apiserver')),
    start: () =>
      change(async context => {
        await startComponent(context, 'apiserver');
        await waitForApiserver(context);
      }),
  };
}

/** Makes the handle of a stack out of what was read or brought up. */
export function stackOf(context: StackContext): Stack {
  const { layout, toolchain } = context;
  // Every change reads the state again: other processes may have changed it since.
  const change: Change = work =>
    withStack(layout, () =>
      work(contextOf({ layout, toolchain, state: requireState(layout), progress: silentProgress })),
    );
  return {
    name: layout.name,
    kubeconfig: layout.kubeconfig,
    temporalAddress: temporalAddress(context),
    temporalUi: temporalUi(context),
    nodes: context.state.nodes.map(node => layout.nodeName(node.index)),
    node: nodeVerbs(change),
    temporal: temporalVerbs(change),
    postgres: postgresVerbs(change),
    apiserver: apiserverVerbs(change),
    disk: {
      slow: node => change(context => slowDisk(context, node)),
      restore: node => change(context => restoreDisk(context, node)),
    },
    loadImages: images =>
      change(async changed => {
        wantImages(changed, images);
        return [...new Set([...(await refreshAllNodes(changed)).values()].flat())];
      }),
    kubectl: (...args) => execute(toolchain.path('kubectl'), [`--kubeconfig=${layout.kubeconfig}`, ...args]),
    toolchain,
  };
}

/** Opens a stack that exists, running or not. Throws with how to make it when there is none of that name. */
export async function openStack(name = 'demo'): Promise<Stack> {
  const layout = layoutOf(name);
  checkPlatform();
  const state = requireState(layout);
  const toolchain = await ensureToolchain({ also: state.temporal === 'postgres' ? POSTGRES_TOOLS : [] });
  return stackOf(contextOf({ layout, state, toolchain, progress: silentProgress }));
}
