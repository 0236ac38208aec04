/**
 * Which addresses the operator connects to because a resource says so. It can reach what the resource's author cannot: its own
 * loopback, the node, the metadata service of the cloud. Names are looked up once, and what was checked is what is dialled.
 */
import { BlockList, isIP, isIPv6 } from 'node:net';

/**
 * Addresses that are never anybody's store or etcd: this machine, its link, everybody at once, and the metadata services of the
 * clouds (AWS, Google, Azure, Alibaba and Oracle document theirs).
 */
const SPECIAL: readonly string[] = [
  '0.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '::/96',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
  '2002::/16',
  'fd00:ec2::254',
  'fd20:ce::254',
];

/** RFC 6052: the last 32 bits are an IPv4 address, which is what is reached. */
const NAT64 = /^64:ff9b::(?:([0-9a-f]{1,4}):)?([0-9a-f]{1,4})$/i;

/** What an administrator allows: names of hosts (`*.example.org` for those below), addresses, blocks, or `*`. */
export class AllowedAddresses {
  readonly #names = new Set<string>();
  readonly #suffixes: string[] = [];
  readonly #blocks = new BlockList();
  readonly #everything: boolean;
  /** Whether any address or block is allowed: else names need not be looked up to know that they are not. */
  readonly hasBlocks: boolean;

  /** @throws RangeError for an entry that {@link isAllowedEntry} refuses */
  constructor(entries: readonly string[]) {
    this.#everything = entries.includes('*');
    const blocks = entries.filter(isBlock);
    this.hasBlocks = blocks.length > 0 || this.#everything;
    for (const block of blocks) addBlock(this.#blocks, block);
    for (const entry of entries) {
      if (entry === '*' || isBlock(entry)) continue;
      if (!isAllowedEntry(entry)) throw new RangeError(`"${entry}" is neither a host nor an address`);
      if (entry.startsWith('*.')) this.#suffixes.push(entry.slice(1).toLowerCase());
      else this.#names.add(entry.toLowerCase());
    }
  }

  coversName(host: string): boolean {
    const name = host.toLowerCase().replace(/\.$/, '');
    return this.#everything || this.#names.has(name) || this.#suffixes.some(suffix => name.endsWith(suffix));
  }

  coversAddress(address: string): boolean {
    return this.#everything || checks(this.#blocks, address);
  }

  /** @param host a name or an address */
  covers(host: string): boolean {
    return this.coversName(host) || this.coversAddress(host);
  }

  /** Whether a store may be at this address: anywhere but at a special one that nobody has allowed. */
  mayBeStore(address: string): boolean {
    return !isSpecial(address) || this.coversAddress(address);
  }
}

/** Whether a text can stand in a list of what is allowed. */
export function isAllowedEntry(entry: string): boolean {
  return (
    entry === '*' || isBlock(entry) || /^(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9-]+)*$/i.test(entry)
  );
}

/** Whether an address is one that nobody else's server is at. @param address IPv4 or IPv6; anything else is special, too */
export function isSpecial(address: string): boolean {
  if (isIP(address) === 0) return true;
  const [, high = '0', low = '0'] = NAT64.exec(address) ?? [];
  if (NAT64.test(address)) {
    const bits = Number.parseInt(high, 16) * 2 ** 16 + Number.parseInt(low, 16);
    return isSpecial([24, 16, 8, 0].map(shift => (bits >>> shift) & 255).join('.'));
  }
  return checks(special, address);
}

function isBlock(entry: string): boolean {
  const [address = '', prefix, ...rest] = entry.split('/');
  const most = isIPv6(address) ? 128 : 32;
  if (isIP(address) === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= most);
}

function addBlock(list: BlockList, block: string): void {
  const [address = '', prefix] = block.split('/');
  const family = isIPv6(address) ? 'ipv6' : 'ipv4';
  if (prefix === undefined) list.addAddress(address, family);
  else list.addSubnet(address, Number(prefix), family);
}

/** IPv4 within IPv6 (`::ffff:127.0.0.1`) counts as what it is, says Node of `BlockList`. */
function checks(list: BlockList, address: string): boolean {
  const [bare = ''] = address.split('%');
  return isIP(bare) !== 0 && list.check(bare, isIPv6(bare) ? 'ipv6' : 'ipv4');
}

const special = new BlockList();
for (const block of SPECIAL) addBlock(special, block);
