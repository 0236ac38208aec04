import { existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Image } from '../images/index.ts';
import { ensureImages, ensureOperatorImage } from '../images/index.ts';
import type { Progress } from '../progress.ts';
import { createProgress } from '../progress.ts';
import { POSTGRES_TOOLS } from '../temporal/postgres.ts';
import { ensureToolchain } from '../toolchain/index.ts';
import { chooseBlock, MAXIMUM_NODES, overlap, parseBlock } from './addresses.ts';
import { ensureCgroup } from './cgroups.ts';
import type { StackContext } from './context.ts';
import { contextOf, save } from './context.ts';
import { ensureFirewallRules } from './firewall.ts';
import { ensureInotify } from './inotify.ts';
import type { Layout } from './layout.ts';
import { layoutOf } from './layout.ts';
import { checkPlatform, choosePort, ensurePrograms, usedNetworks } from './machine.ts';
import { ensureSharedVolumes } from './mounts.ts';
import { ensureBridge } from './network.ts';
import { prepareStores, refreshAllNodes, wantImages } from './node-images.ts';
import { addNode, nodeIsRunning, setConnected, startNode } from './nodes.ts';
import { ensurePki } from './pki.ts';
import { hasPostgres } from './postgres.ts';
import { applyBaseObjects, waitForApiserver, waitForNodes, waitForUsable } from './readiness.ts';
import { componentIsRunning, startComponent } from './services.ts';
import { startTemporal } from './start-temporal.ts';
import type { Ports, State, TemporalKind } from './state.ts';
import { newState, otherBlocks, readState, withAllStacks, withStack, writeState } from './state.ts';
import { clearStale } from './teardown.ts';

export interface UpOptions {
  /** Default `demo`. */
  name?: string;
  /** Default: as many as the stack has, 3 for a new one. A stack never loses nodes through `up`. */
  nodes?: number;
  /** What keeps Temporal's data. Default: as the stack has it, `development` for a new one. */
  temporal?: TemporalKind;
  /** Default true. The operator's image is built from the checkout; false saves the time where nobody runs it. */
  operatorImage?: boolean;
  /** Default: a view on standard error. */
  progress?: Progress;
}

/** Host processes that need the API server before they start. */
const CLIENTS = ['controller-manager', 'scheduler', 'coredns', 'provisioner'] as const;

const PREFERRED_PORTS: Ports = {
  etcd: 2379,
  etcdPeer: 2380,
  apiserver: 6443,
  controllerManager: 10257,
  scheduler: 10259,
  dns: 1053,
  dnsHealth: 8085,
  dnsReady: 8185,
};

/** The stack's state, with a network that nobody else uses; a stack that is down may find its own taken. */
async function openState(layout: Layout, temporal: TemporalKind): Promise<State> {
  return withAllStacks(async () => {
    const used = await usedNetworks(layout.bridge);
    const known = readState(layout);
    if (known === undefined) {
      const block = chooseBlock(layout.name, [...used, ...otherBlocks(layout.name)]);
      const state = { ...newState(layout.name, block), temporal };
      writeState(layout, state);
      return state;
    }
    const block = parseBlock(known.block);
    const rival = used.find(text => {
      const other = parseBlock(text);
      return block && other && other.prefix >= 4 && overlap(block, other);
    });
    if (rival === undefined) return known;
    throw new Error(
      `the network ${known.block} of stack ${layout.name} is used by this machine now (${rival}); ` +
        `\`local reset --name ${layout.name}\` makes the stack anew in another one, without its data`,
    );
  });
}

async function choosePorts(context: StackContext): Promise<void> {
  const chosen = new Set<number>();
  const ports = { ...PREFERRED_PORTS };
  for (const name of Object.keys(ports) as (keyof Ports)[]) {
    ports[name] = await choosePort(
      context.addresses.host,
      context.state.ports?.[name] ?? ports[name],
      chosen,
    );
    chosen.add(ports[name]);
  }
  context.state.ports = ports;
  save(context);
}

function addNodes(context: StackContext, wanted: number | undefined): void {
  const { state } = context;
  const count = wanted ?? (state.nodes.length > 0 ? 0 : 3);
  for (let index = 1; index <= count; index += 1) addNode(context, index);
  save(context);
}

/** A folder for PATH: kubectl, temporal and the newest etcd tools. */
function linkTools(context: StackContext): void {
  const { layout, toolchain } = context;
  const newest = toolchain.versions.etcd.at(-1) ?? '';
  const tools = {
    kubectl: toolchain.path('kubectl'),
    temporal: toolchain.path('temporal'),
    etcdctl: toolchain.path(`etcdctl@${newest}`),
    etcdutl: toolchain.path(`etcdutl@${newest}`),
  };
  mkdirSync(layout.bin, { recursive: true });
  for (const [name, target] of Object.entries(tools)) {
    rmSync(join(layout.bin, name), { force: true });
    symlinkSync(target, join(layout.bin, name));
  }
}

async function gatherImages(context: StackContext, options: UpOptions): Promise<Image[]> {
  const { toolchain, progress } = context;
  const images = await ensureImages(toolchain, { progress });
  if (options.operatorImage === false) return images;
  return [...images, await ensureOperatorImage(toolchain, { progress })];
}

/** Images in the cache, and a containerd root with all of them in every node that has none yet. */
async function prepareImages(context: StackContext, options: UpOptions): Promise<void> {
  const images = await gatherImages(context, options);
  context.state.images = context.state.images.filter(image => existsSync(image.archive));
  wantImages(context, images);
  await prepareStores(context);
}

/** Waits for all, also after a failure, so that nothing works on after the lock is given back; throws the first failure. */
async function allOf(works: readonly Promise<unknown>[]): Promise<void> {
  const failure = Promise.all(works).then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  await Promise.allSettled(works);
  const first = await failure;
  if (first !== undefined) throw first.error;
}

/** Network, certificates, cgroup: what processes stand on. */
async function layGround(context: StackContext, options: UpOptions): Promise<void> {
  const somethingRuns = await clearStale(context);
  addNodes(context, options.nodes);
  await ensureInotify(context);
  await ensureSharedVolumes(context.layout);
  await ensureBridge(context);
  await ensureFirewallRules(context);
  ensureCgroup(context.layout.cgroup);
  if (!somethingRuns) await choosePorts(context);
  await ensurePki(context);
  linkTools(context);
}

/** Powers on the nodes that are off, plugs in the pulled cables, and waits until all are Ready with their images. */
async function bringUpNodes(context: StackContext, stale: boolean): Promise<void> {
  const { state } = context;
  const begun = Date.now();
  const indexes = state.nodes.map(node => node.index);
  const started = new Set(indexes.filter(index => !nodeIsRunning(context, index)));
  for (const node of state.nodes) if (node.disconnected) await setConnected(context, node.index, true);
  await Promise.all([...started].map(index => startNode(context, index)));
  const isFresh = (index: number): boolean => stale || started.has(index);
  await waitForNodes(context, { indexes: indexes.filter(index => !isFresh(index)), since: 0 });
  await waitForNodes(context, { indexes: indexes.filter(isFresh), since: begun });
  await refreshAllNodes(context);
}

async function bringUp(context: StackContext, options: UpOptions): Promise<void> {
  const { progress } = context;
  await progress.step('network and certificates', () => layGround(context, options));
  const images = prepareImages(context, options);
  // What the API server says about nodes is old news when it has just been started.
  const stale = !componentIsRunning(context, 'apiserver');
  const servers = (async () => {
    for (const component of ['etcd', 'apiserver'] as const) await startComponent(context, component);
  })();
  const temporal = servers.then(() =>
    progress.step(hasPostgres(context) ? 'PostgreSQL and Temporal' : 'Temporal', () =>
      startTemporal(context),
    ),
  );
  const control = servers.then(() =>
    progress.step('control plane', async () => {
      await waitForApiserver(context);
      for (const component of CLIENTS) await startComponent(context, component);
      await applyBaseObjects(context);
    }),
  );
  const nodes = Promise.all([images, control]).then(() =>
    progress.step(`${context.state.nodes.length} nodes`, () => bringUpNodes(context, stale)),
  );
  const usable = control.then(() => waitForUsable(context));
  await allOf([images, control, temporal, nodes, usable]);
}

function checkNodeCount(count: number | undefined): void {
  if (count === undefined || (Number.isInteger(count) && count >= 1 && count <= MAXIMUM_NODES)) return;
  throw new Error(`--nodes ${count}: a stack has 1 to ${MAXIMUM_NODES} nodes`);
}

/** What keeps Temporal's data: what the stack has stays, since nothing carries its workflows from one to the other. */
function temporalOf(layout: Layout, { temporal }: UpOptions): TemporalKind {
  const known = readState(layout)?.temporal;
  if (known !== undefined && temporal !== undefined && known !== temporal) {
    throw new Error(
      `--temporal ${temporal}: stack ${layout.name} has ${known}; \`local reset --name ${layout.name} --temporal ${temporal}\` makes it anew, without its data`,
    );
  }
  return known ?? temporal ?? 'development';
}

/**
 * Brings a stack up, or heals one that is up in part: starts what does not run, plugs in pulled cables, loads
 * images that are new. Comes back when every node is Ready, pods can be made and Temporal serves. Harmless when
 * all is well; after a crash it first clears what is stale and keeps the data.
 */
export async function bringUpStack(options: UpOptions = {}): Promise<StackContext> {
  const layout = layoutOf(options.name ?? 'demo');
  checkNodeCount(options.nodes);
  checkPlatform();
  const progress = options.progress ?? createProgress();
  try {
    await ensurePrograms(progress);
    const temporal = temporalOf(layout, options);
    const toolchain = await ensureToolchain({
      progress,
      also: temporal === 'postgres' ? POSTGRES_TOOLS : [],
    });
    const work = async (): Promise<StackContext> => {
      const context = contextOf({ layout, state: await openState(layout, temporal), toolchain, progress });
      await bringUp(context, options);
      return context;
    };
    return await withStack(layout, work, message => progress.note(`stack ${layout.name}: ${message}`));
  } finally {
    if (options.progress === undefined) progress.close();
  }
}
