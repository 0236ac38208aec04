import { existsSync } from 'node:fs';
import { MAXIMUM_NODES } from './addresses.ts';
import type { StackContext } from './context.ts';
import { attempt, execute } from './execute.ts';
import type { Layout } from './layout.ts';
import { macAddress } from './layout.ts';

const nodeNumbers = Array.from({ length: MAXIMUM_NODES }, (_, n) => n + 1);

/** True when a network interface of this name exists in the host's namespace. */
export function linkExists(name: string): boolean {
  return existsSync(`/sys/class/net/${name}`);
}

/**
 * Makes the stack's bridge with the host's address and a route to every node's pods. The bridge's MAC address
 * is fixed: otherwise it is that of its lowest port and changes as nodes come and go, under everyone's ARP cache.
 */
export async function ensureBridge(context: StackContext): Promise<void> {
  const { layout, addresses } = context;
  if (!linkExists(layout.bridge)) {
    await execute('ip', [
      'link',
      'add',
      layout.bridge,
      'address',
      macAddress(layout, 'host'),
      'type',
      'bridge',
    ]);
  }
  await execute('ip', ['addr', 'replace', `${addresses.host}/24`, 'dev', layout.bridge]);
  await execute('ip', ['link', 'set', layout.bridge, 'up']);
  const routes = nodeNumbers.map(
    index =>
      `route replace ${addresses.podSubnet(index)} via ${addresses.node(index)} dev ${layout.bridge} onlink`,
  );
  await execute('ip', ['-batch', '-'], { input: `${routes.join('\n')}\n` });
}

/** Commands for `ip -batch`, run inside a node: its address, the way to the host and to the other nodes' pods. */
export function renderNodeNetwork(context: StackContext, index: number): string {
  const { addresses } = context;
  const others = nodeNumbers.filter(other => other !== index);
  return [
    'link set lo up',
    `addr add ${addresses.node(index)}/24 dev eth0`,
    'link set eth0 up',
    `route add default via ${addresses.host}`,
    ...others.map(
      other => `route add ${addresses.podSubnet(other)} via ${addresses.node(other)} onlink dev eth0`,
    ),
    '',
  ].join('\n');
}

/** Lays the cable from the bridge into the network namespace of process `pid`, pulled or plugged in. */
export async function plugIn(context: StackContext, index: number, pid: number): Promise<void> {
  const { layout } = context;
  const link = layout.nodeLink(index);
  const disconnected = context.state.nodes.find(node => node.index === index)?.disconnected ?? false;
  if (linkExists(link)) await execute('ip', ['link', 'del', link]);
  const peer = [
    'peer',
    'name',
    'eth0',
    'address',
    macAddress(layout, layout.nodeName(index)),
    'netns',
    `${pid}`,
  ];
  await execute('ip', ['link', 'add', link, 'type', 'veth', ...peer]);
  await execute('ip', ['link', 'set', link, 'master', layout.bridge, disconnected ? 'down' : 'up']);
}

/** Pulls a node's cable or plugs it in again. */
export async function setCable(layout: Layout, index: number, position: 'up' | 'down'): Promise<void> {
  const link = layout.nodeLink(index);
  if (linkExists(link)) await execute('ip', ['link', 'set', link, position]);
}

/** Removes every interface of the stack; the routes go with the bridge. */
export async function removeNetwork(layout: Layout): Promise<void> {
  for (const link of [...nodeNumbers.map(index => layout.nodeLink(index)), layout.bridge]) {
    // A dead node's namespace takes its cable along a moment later, so the link may vanish under our hands.
    if (linkExists(link) && !(await attempt('ip', ['link', 'del', link])) && linkExists(link)) {
      await execute('ip', ['link', 'del', link]);
    }
  }
}
