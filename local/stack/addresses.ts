import { createHash } from 'node:crypto';

/** The highest node number; routes to every possible node are laid in advance, so that nodes can join later. */
export const MAXIMUM_NODES = 32;

export interface Block {
  first: number;
  prefix: number;
}

/** Parses an IPv4 address with or without a prefix length; undefined for anything else (IPv6, `default`). */
export function parseBlock(text: string): Block | undefined {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?:\/(\d{1,2}))?$/.exec(text);
  if (!match) return undefined;
  const octets = match.slice(1, 5).map(Number);
  const prefix = match[5] === undefined ? 32 : Number(match[5]);
  if (prefix > 32 || octets.some(octet => octet > 255)) return undefined;
  const address = octets.reduce((sum, octet) => sum * 256 + octet, 0);
  return { first: address - (address % 2 ** (32 - prefix)), prefix };
}

/** Dotted form of a 32-bit address. */
export function formatAddress(address: number): string {
  return [24, 16, 8, 0].map(shift => (address >>> shift) & 255).join('.');
}

/** True when the two blocks share an address. */
export function overlap(one: Block, other: Block): boolean {
  const end = (block: Block): number => block.first + 2 ** (32 - block.prefix);
  return one.first < end(other) && other.first < end(one);
}

/**
 * The /16 blocks a stack may live in: first private ones that few installers use by default, then the other
 * private ones, then shared address space (RFC 6598) for a machine whose VPN routes all of RFC 1918.
 */
function candidates(): string[] {
  const range = (from: number, to: number, make: (n: number) => string): string[] =>
    Array.from({ length: to - from + 1 }, (_, n) => make(from + n));
  return [
    ...range(128, 239, n => `10.${n}.0.0/16`),
    ...range(18, 31, n => `172.${n}.0.0/16`),
    ...range(64, 127, n => `100.${n}.0.0/16`),
  ];
}

/**
 * Chooses a /16 for a stack that overlaps nothing in `taken` (routes, interface addresses, other stacks). The
 * search begins at a place that follows from the name, so a stack that is made again mostly gets its old block.
 * Routes shorter than /4 (the default route, the two halves of a full-tunnel VPN) do not count as taken.
 */
export function chooseBlock(name: string, taken: readonly string[]): string {
  const occupied = taken.flatMap(text => {
    const block = parseBlock(text);
    return block && block.prefix >= 4 ? [block] : [];
  });
  const isFree = (text: string): boolean => {
    const block = parseBlock(text);
    return block !== undefined && !occupied.some(other => overlap(block, other));
  };
  const all = candidates();
  const preferred = all.slice(0, 112);
  const start = createHash('sha256').update(name).digest().readUInt32BE(0) % preferred.length;
  const ordered = [...preferred.slice(start), ...preferred.slice(0, start), ...all.slice(112)];
  const free = ordered.find(isFree);
  if (free === undefined) {
    throw new Error(
      `no free /16 network for stack ${name}: the routes of this machine cover every private block`,
    );
  }
  return free;
}

/** Every address of a stack, all of them inside its one /16. */
export interface Addresses {
  block: string;
  /** The bridge on the host; host processes of the stack listen on it. */
  host: string;
  /** Temporal has a network namespace of its own, and so an address. */
  temporal: string;
  nodeNetwork: string;
  podNetwork: string;
  serviceNetwork: string;
  kubernetesService: string;
  dnsService: string;
  node(index: number): string;
  podSubnet(index: number): string;
}

/** Lays out a /16: nodes in x.y.0.0/24, Services in x.y.64.0/18, pods in x.y.128.0/17 with a /24 per node. */
export function addressesOf(block: string): Addresses {
  const parsed = parseBlock(block);
  if (parsed?.prefix !== 16) throw new Error(`a stack needs an IPv4 /16, got ${block}`);
  const at = (third: number, fourth: number): string => formatAddress(parsed.first + third * 256 + fourth);
  const checked = (index: number): number => {
    if (!Number.isInteger(index) || index < 1 || index > MAXIMUM_NODES) {
      throw new Error(`node ${index}: nodes are numbered from 1 to ${MAXIMUM_NODES}`);
    }
    return index;
  };
  return {
    block,
    host: at(0, 1),
    temporal: at(0, 2),
    nodeNetwork: `${at(0, 0)}/24`,
    serviceNetwork: `${at(64, 0)}/18`,
    podNetwork: `${at(128, 0)}/17`,
    kubernetesService: at(64, 1),
    dnsService: at(64, 10),
    node: index => at(0, 10 + checked(index)),
    podSubnet: index => `${at(128 + checked(index), 0)}/24`,
  };
}
