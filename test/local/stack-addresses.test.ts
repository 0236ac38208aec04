import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addressesOf,
  chooseBlock,
  formatAddress,
  MAXIMUM_NODES,
  overlap,
  parseBlock,
} from '../../local/stack/addresses.ts';

describe('parseBlock', () => {
  test.each([
    ['10.0.0.0/8', { first: 0x0a000000, prefix: 8 }],
    ['192.168.7.9/24', { first: 0xc0a80700, prefix: 24 }],
    ['255.255.255.255', { first: 0xffffffff, prefix: 32 }],
    ['0.0.0.0/0', { first: 0, prefix: 0 }],
  ])('%s', (text, block) => {
    expect(parseBlock(text)).toEqual(block);
  });

  test.each(['default', 'fe80::/64', '10.0.0.256', '10.0.0.0/33', '10.0.0', 'broadcast', ''])(
    'not %j',
    text => {
      expect(parseBlock(text)).toBeUndefined();
    },
  );

  test('reads what formatAddress writes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 0xffffffff }), address => {
        expect(parseBlock(formatAddress(address))).toEqual({ first: address, prefix: 32 });
      }),
    );
  });
});

test('blocks overlap when one holds the other or both are the same', () => {
  const pair = (one: string, other: string): boolean => {
    const [a, b] = [parseBlock(one), parseBlock(other)];
    if (!a || !b) throw new Error('not blocks');
    expect(overlap(a, b)).toBe(overlap(b, a));
    return overlap(a, b);
  };
  expect(pair('10.0.0.0/8', '10.200.0.0/16')).toBe(true);
  expect(pair('10.200.0.0/16', '10.200.0.0/16')).toBe(true);
  expect(pair('10.200.255.255', '10.200.0.0/16')).toBe(true);
  expect(pair('10.201.0.0', '10.200.0.0/16')).toBe(false);
  expect(pair('10.199.255.0/24', '10.200.0.0/16')).toBe(false);
});

describe('chooseBlock', () => {
  test('gives a stack the same block again, and other names mostly other ones', () => {
    expect(chooseBlock('demo', [])).toBe(chooseBlock('demo', []));
    const names = Array.from({ length: 20 }, (_, n) => `stack-${n}`);
    expect(new Set(names.map(name => chooseBlock(name, []))).size).toBeGreaterThan(14);
  });

  test('never overlaps what is taken', () => {
    const network = fc
      .tuple(fc.integer({ min: 0, max: 0xffffffff }), fc.integer({ min: 9, max: 32 }))
      .map(([address, prefix]) => `${formatAddress(address)}/${prefix}`);
    const near = fc.integer({ min: 128, max: 239 }).map(second => `10.${second}.3.0/24`);
    fc.assert(
      fc.property(fc.array(fc.oneof(network, near), { maxLength: 60 }), taken => {
        const chosen = parseBlock(chooseBlock('demo', taken));
        if (!chosen) throw new Error('not a block');
        for (const text of taken) {
          const other = parseBlock(text);
          expect(other && overlap(chosen, other)).toBe(false);
        }
      }),
    );
  });

  test('fills up side by side until nothing is left, and says so then', () => {
    const taken: string[] = [];
    for (let n = 0; n < 112 + 14 + 64; n += 1) taken.push(chooseBlock(`s${n}`, taken));
    expect(new Set(taken).size).toBe(taken.length);
    expect(() => chooseBlock('one-more', taken)).toThrow('no free /16 network for stack one-more');
  });

  test('keeps off 10.0.0.0/8 where a VPN routes it, but ignores default routes in any spelling', () => {
    expect(chooseBlock('demo', ['default', '0.0.0.0/1', '128.0.0.0/1', '10.0.0.0/8'])).toMatch(/^172\./);
    expect(chooseBlock('demo', ['10.0.0.0/8', '172.16.0.0/12'])).toMatch(/^100\./);
  });
});

describe('addressesOf', () => {
  const addresses = addressesOf('10.200.0.0/16');

  test('keeps every network inside the block and apart from each other', () => {
    const block = parseBlock(addresses.block);
    const pods = Array.from({ length: MAXIMUM_NODES }, (_, n) => addresses.podSubnet(n + 1));
    const networks = [addresses.nodeNetwork, addresses.serviceNetwork, ...pods].map(parseBlock);
    for (const [position, one] of networks.entries()) {
      if (!one || !block) throw new Error('not a block');
      expect(overlap(one, block)).toBe(true);
      expect(networks.slice(position + 1).some(other => other && overlap(one, other))).toBe(false);
    }
  });

  test('gives every host an address of its own', () => {
    const nodes = Array.from({ length: MAXIMUM_NODES }, (_, n) => addresses.node(n + 1));
    const all = [addresses.host, addresses.temporal, ...nodes];
    expect(new Set(all).size).toBe(all.length);
    expect(addresses.host).toBe('10.200.0.1');
    expect(addresses.kubernetesService).toBe('10.200.64.1');
    expect(addresses.podSubnet(1)).toBe('10.200.129.0/24');
  });

  test.each([0, -1, 1.5, MAXIMUM_NODES + 1])('refuses node %d', index => {
    expect(() => addresses.node(index)).toThrow('nodes are numbered from 1');
  });

  test('refuses anything but a /16', () => {
    expect(() => addressesOf('10.200.0.0/24')).toThrow('needs an IPv4 /16');
  });
});
