import { readFileSync, readlinkSync } from 'node:fs';
import type { Addresses } from './addresses.ts';
import { MAXIMUM_NODES } from './addresses.ts';
import type { StackContext, StoredStack } from './context.ts';
import { attempt, execute, poll } from './execute.ts';
import type { Layout } from './layout.ts';
import { macAddress } from './layout.ts';

const nodeNumbers = Array.from({ length: MAXIMUM_NODES }, (_, n) => n + 1);

/** True when a network interface of this name exists in our namespace; /sys may show another one's. */
export function linkExists(name: string): boolean {
  const lines = readFileSync('/proc/self/net/dev', 'utf8').split('\n');
  return lines.some(line => line.trimStart().startsWith(`${name}:`));
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

/** Commands for `ip -batch` inside a namespace at the end of a cable: its address, and the way to all pods. */
export function renderNetwork(addresses: Addresses, own: string): string {
  const others = nodeNumbers.filter(index => addresses.node(index) !== own);
  return [
    'link set lo up',
    `addr add ${own}/24 dev eth0`,
    'link set eth0 up',
    `route add default via ${addresses.host}`,
    ...others.map(
      index => `route add ${addresses.podSubnet(index)} via ${addresses.node(index)} onlink dev eth0`,
    ),
    '',
  ].join('\n');
}

/** A cable from the stack's bridge to a network namespace, where its end is called eth0. */
export interface Cable {
  /** Name of the end at the bridge. */
  link: string;
  /** Of the other end; it follows from who sits there, so that ARP caches outlive a new cable. */
  mac: string;
  position: 'up' | 'down';
}

/** The cable of a node. */
export function nodeCable(stack: StoredStack, index: number): Cable {
  const { layout, state } = stack;
  const disconnected = state.nodes.find(node => node.index === index)?.disconnected ?? false;
  return {
    link: layout.nodeLink(index),
    mac: macAddress(layout, layout.nodeName(index)),
    position: disconnected ? 'down' : 'up',
  };
}

/** Waits until process `pid` has entered a network namespace of its own, and lays the cable into it. */
export async function plugIn(layout: Layout, cable: Cable, pid: number): Promise<void> {
  const ours = readlinkSync('/proc/self/ns/net');
  await poll(async () => readlinkSync(`/proc/${pid}/ns/net`) !== ours, {
    what: `process ${pid} to enter its network namespace`,
    timeoutMilliseconds: 10_000,
    intervalMilliseconds: 5,
  });
  const { link, mac, position } = cable;
  await removeLink(link);
  const peer = ['peer', 'name', 'eth0', 'address', mac, 'netns', `${pid}`];
  await execute('ip', ['link', 'add', link, 'type', 'veth', ...peer]);
  await execute('ip', ['link', 'set', link, 'master', layout.bridge, position]);
}

/** Pulls a node's cable or plugs it in again. */
export async function setCable(layout: Layout, index: number, position: 'up' | 'down'): Promise<void> {
  const link = layout.nodeLink(index);
  if (linkExists(link)) await execute('ip', ['link', 'set', link, position]);
}

/**
 * Removes an interface. A dead process's network namespace takes its cable along a moment later, so it may vanish
 * under our hands.
 */
export async function removeLink(link: string): Promise<void> {
  if (!linkExists(link) || (await attempt('ip', ['link', 'del', link]))) return;
  if (linkExists(link)) await execute('ip', ['link', 'del', link]);
}

/** Removes every interface of the stack; the routes go with the bridge. */
export async function removeNetwork(layout: Layout): Promise<void> {
  const links = [...nodeNumbers.map(layout.nodeLink), layout.temporalLink, layout.bridge];
  for (const link of links) await removeLink(link);
}
