/** The local stack itself, for real: namespaces, kubelets and servers, in stacks of this test's own. */
import { kill } from 'node:process';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentProgress } from '../../local/progress.ts';
import { addressesOf } from '../../local/stack/addresses.ts';
import { execute } from '../../local/stack/execute.ts';
import { down, openStack, type Stack, statusOf, up } from '../../local/stack/index.ts';
import { layoutOf } from '../../local/stack/layout.ts';
import { markedProcesses } from '../../local/stack/processes.ts';
import { readState } from '../../local/stack/state.ts';
import { ask, inKeeper, makeKeepers } from '../stack/keeper-pods.ts';
import { difference, type Snapshot, takeSnapshot } from '../stack/machine-snapshot.ts';
import { poll } from '../stack/poll.ts';

const NAME = 't-stack';
const NEIGHBOUR = 't-neighbour';
const layout = layoutOf(NAME);

const bringUp = (name: string, nodes: number): Promise<Stack> =>
  up({ name, nodes, operatorImage: false, progress: silentProgress });

let stack: Stack;
let before: Snapshot;
let files: string[];

beforeAll(async () => {
  await down(NAME, { wipe: true });
  await down(NEIGHBOUR, { wipe: true });
  before = await takeSnapshot([NAME, NEIGHBOUR]);
  stack = await bringUp(NAME, 3);
});

afterAll(async () => {
  await down(NAME, { wipe: true });
  await down(NEIGHBOUR, { wipe: true });
});

/** Names of the nodes that the API server calls Ready. */
async function readyNodes(of: Stack): Promise<string[]> {
  const path =
    '{range .items[*]}{.metadata.name} {.status.conditions[?(@.type=="Ready")].status}{"\\n"}{end}';
  const lines = (await of.kubectl('get', 'nodes', '-o', `jsonpath=${path}`)).trim().split('\n');
  return lines.filter(line => line.endsWith(' True')).map(line => line.split(' ')[0] ?? '');
}

function awaitReadyNodes(names: readonly string[]): Promise<boolean> {
  return poll(async () => (await readyNodes(stack)).join() === names.join(), {
    timeoutMs: 60_000,
    otherwise: async () => `wanted Ready: ${names.join()}, there are: ${(await readyNodes(stack)).join()}`,
  });
}

const temporal = (...args: string[]): Promise<string> =>
  execute(stack.toolchain.path('temporal'), [
    ...args,
    `--address=${stack.temporalAddress}`,
    '--command-timeout=2s',
  ]);

const namespaceExists = (name: string): Promise<boolean> =>
  temporal('operator', 'namespace', 'describe', `--namespace=${name}`).then(
    () => true,
    () => false,
  );

describe('a fresh stack', () => {
  test('has three Ready nodes in three zones, and the storage classes', async () => {
    expect(await readyNodes(stack)).toEqual(stack.nodes);
    expect(stack.nodes).toEqual(['t-stack-1', 't-stack-2', 't-stack-3']);
    const label = 'jsonpath={.items[*].metadata.labels.topology\\.kubernetes\\.io/zone}';
    expect(await stack.kubectl('get', 'nodes', '-o', label)).toBe('z1 z2 z3');
    const expansion = 'jsonpath={range .items[*]}{.metadata.name}={.allowVolumeExpansion} {end}';
    const classes = await stack.kubectl('get', 'storageclass', '-o', expansion);
    expect(classes.trim().split(' ')).toEqual(['fixed=false', 'shared=true', 'sized=true', 'standard=true']);
  });

  test('runs restricted pods with volumes, which find each other and Temporal by name', async () => {
    await makeKeepers(stack, [1, 2, 3]);
    files = await Promise.all([1, 2, 3].map(node => inKeeper(stack, node, 'cat', '/data/file')));
    expect(new Set(files).size).toBe(3);
    expect(await poll(() => ask(stack, 1, 2))).toBe(files[1]);
    expect(await poll(() => ask(stack, 3, 1))).toBe(files[0]);
    const page = await inKeeper(stack, 1, 'wget', '-qO-', 'http://temporal-ui.temporal.svc:8080/');
    expect(page).toContain('<html');
    const greet = 'echo | nc -w 2 temporal-frontend.temporal.svc 7233 | wc -c';
    expect(Number(await inKeeper(stack, 1, 'sh', '-c', greet))).toBeGreaterThan(0);
  });

  test('is left as it is by a second up', async () => {
    const earlier = readState(layout)?.processes;
    await bringUp(NAME, 3);
    expect(readState(layout)?.processes).toEqual(earlier);
  });

  test('listens on its own address only', async () => {
    const { host } = addressesOf(readState(layout)?.block ?? '');
    const pids = new Set(markedProcesses(layout.id).map(({ pid }) => `pid=${pid},`));
    const sockets = (await execute('ss', ['-ltunpH'])).split('\n');
    const own = sockets.filter(line => (line.match(/pid=\d+,/g) ?? []).some(pid => pids.has(pid)));
    expect(own.length).toBeGreaterThan(5);
    expect(own.filter(line => !line.split(/\s+/)[4]?.startsWith(`${host}:`))).toEqual([]);
  });

  test('reports itself, and takes less than 3 GiB', async () => {
    const status = await statusOf(NAME);
    expect([...status.components, ...status.nodes].filter(({ running }) => !running)).toEqual([]);
    expect(status.nodes.map(({ ready }) => ready)).toEqual([true, true, true]);
    expect(status.residentBytes).toBeLessThan(3 * 2 ** 30);
  });
});

describe('faults', () => {
  test('a node without power is noticed, and comes back with its pods and volumes', async () => {
    await stack.node.stop(2);
    await expect(ask(stack, 1, 2)).rejects.toThrow();
    await awaitReadyNodes(['t-stack-1', 't-stack-3']);
    await stack.node.start(2);
    expect(await readyNodes(stack)).toEqual(stack.nodes);
    expect(await poll(() => ask(stack, 1, 2))).toBe(files[1]);
  });

  test('a disconnected node is noticed and runs on, also over a power cycle', async () => {
    await stack.node.disconnect(3);
    await awaitReadyNodes(['t-stack-1', 't-stack-2']);
    expect(await stack.node.run(3, 'sh', '-c', 'pidof kubelet | wc -w')).toBe('1\n');
    await stack.node.stop(3);
    await stack.node.start(3);
    expect(await readyNodes(stack)).toEqual(['t-stack-1', 't-stack-2']);
    await stack.node.connect(3);
    await awaitReadyNodes(stack.nodes);
    expect(await poll(() => ask(stack, 1, 3))).toBe(files[2]);
  });

  test('a removed node is gone with its disk, and comes back empty', async () => {
    await stack.node.remove(3);
    const nodes = await stack.kubectl('get', 'nodes', '-o', 'name');
    expect(nodes.trim().split('\n')).toEqual(['node/t-stack-1', 'node/t-stack-2']);
    expect((await openStack(NAME)).nodes).toEqual(['t-stack-1', 't-stack-2']);
    await stack.node.start(3);
    expect(await readyNodes(stack)).toEqual(stack.nodes);
    const volumes = await stack.node.run(3, 'sh', '-c', `ls ${layout.volumes} | grep -c t-stack-3 || true`);
    expect(volumes).toBe('0\n');
  });

  test('Temporal forgets nothing over a restart and everything when wiped', async () => {
    await temporal('operator', 'namespace', 'create', '--namespace=kept');
    await stack.temporal.stop();
    expect(await namespaceExists('default')).toBe(false);
    await stack.temporal.start();
    expect(await namespaceExists('kept')).toBe(true);
    await stack.temporal.wipe();
    expect(await namespaceExists('kept')).toBe(false);
    expect(await namespaceExists('default')).toBe(true);
    await temporal('operator', 'namespace', 'create', '--namespace=after-wipe');
  });

  test('a slow disk slows what pods write until it is restored', async () => {
    const write =
      'for n in 1 2 3 4 5; do dd if=/dev/zero of=/data/x bs=4k count=1 conv=fsync 2>/dev/null; done';
    const secondsToWrite = async (): Promise<number> => {
      const begun = performance.now();
      await inKeeper(stack, 1, 'sh', '-c', write);
      return (performance.now() - begun) / 1000;
    };
    const usual = await secondsToWrite();
    await stack.disk.slow(1);
    await poll(async () => (await secondsToWrite()) > usual + 1);
    await stack.disk.restore(1);
    await poll(async () => (await secondsToWrite()) < usual + 1);
  });

  test('pods run on while the API server is stopped', async () => {
    await stack.apiserver.stop();
    await expect(stack.kubectl('get', 'nodes')).rejects.toThrow('refused');
    expect(await stack.node.run(2, 'sh', '-c', 'pidof httpd | wc -w')).toBe('1\n');
    await stack.apiserver.start();
    expect(await poll(() => ask(stack, 1, 2))).toBe(files[1]);
  });
});

describe('several lives', () => {
  test('two stacks live side by side, and one ends without the other noticing', async () => {
    const neighbour = await bringUp(NEIGHBOUR, 1);
    expect(await readyNodes(neighbour)).toEqual(['t-neighbour-1']);
    expect(readState(layoutOf(NEIGHBOUR))?.block).not.toBe(readState(layout)?.block);
    expect(await readyNodes(stack)).toEqual(stack.nodes);
    await down(NEIGHBOUR, { wipe: true });
    expect(await readyNodes(stack)).toEqual(stack.nodes);
    expect(await ask(stack, 1, 2)).toBe(files[1]);
  });

  test('up heals a stack that was killed altogether, and keeps its data', async () => {
    for (const { pid } of markedProcesses(layout.id)) {
      try {
        kill(pid, 'SIGKILL');
      } catch {
        // ended with its node's first process, which was killed before it
      }
    }
    await poll(async () => markedProcesses(layout.id).length === 0);
    stack = await bringUp(NAME, 3);
    expect(await readyNodes(stack)).toEqual(stack.nodes);
    expect(await poll(() => ask(stack, 1, 2))).toBe(files[1]);
    expect(await namespaceExists('after-wipe')).toBe(true);
  });

  test('down leaves nothing behind but its folder, and a wipe not even that', async () => {
    await down(NAME);
    await poll(
      async () => Object.keys(difference(before, await takeSnapshot([NAME, NEIGHBOUR]))).length === 0,
      {
        timeoutMs: 10_000,
        otherwise: async () =>
          JSON.stringify(difference(before, await takeSnapshot([NAME, NEIGHBOUR])), null, 2),
      },
    );
    expect((await statusOf(NAME)).running).toBe(false);
    await down(NAME, { wipe: true });
    await expect(openStack(NAME)).rejects.toThrow('there is no stack t-stack');
  });
});
