import { describe, expect, test } from 'vitest';
import { AllowedAddresses, isAllowedEntry, isSpecial } from '../../src/store/addresses.ts';

describe('special addresses', () => {
  test.each([
    '127.0.0.1',
    '127.255.255.254',
    '0.0.0.0',
    '0.1.2.3',
    '169.254.169.254',
    '169.254.170.23',
    '168.63.129.16',
    '100.100.100.200',
    '224.0.0.1',
    '255.255.255.255',
    '::1',
    '::',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:a9fe:a9fe',
    '0:0:0:0:0:ffff:169.254.169.254',
    '64:ff9b::7f00:1',
    '64:ff9b::a9fe:a9fe',
    '2002:7f00:1::',
    'fe80::1',
    'fe80::1%eth0',
    'ff02::1',
    'fd00:ec2::254',
    'localhost',
    '',
  ])('%s is one', address => {
    expect(isSpecial(address)).toBe(true);
  });

  test.each([
    '10.0.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '52.216.0.1',
    'fd12::1',
    '2600::1',
    '64:ff9b::808:808',
  ])('%s is none', address => {
    expect(isSpecial(address)).toBe(false);
  });
});

describe('what is allowed', () => {
  const allowed = new AllowedAddresses([
    'etcd.example.org',
    '*.Shop.example',
    '10.1.0.0/16',
    '127.0.0.1',
    'fd00::/8',
  ]);

  test('names are compared whole, those below a name by their end', () => {
    expect(
      ['etcd.example.org', 'ETCD.example.org.', 'a.shop.example', 'a.b.shop.example'].map(name =>
        allowed.coversName(name),
      ),
    ).toEqual([true, true, true, true]);
    expect(
      ['shop.example', 'ashop.example', 'etcd.example.org.evil.test', 'example.org'].map(name =>
        allowed.coversName(name),
      ),
    ).toEqual([false, false, false, false]);
  });

  test('addresses are compared by block', () => {
    expect(
      ['10.1.2.3', '127.0.0.1', 'fd00:1::2', '::ffff:10.1.2.3'].map(address =>
        allowed.coversAddress(address),
      ),
    ).toEqual([true, true, true, true]);
    expect(
      ['10.2.0.1', '127.0.0.2', '::1', 'no address'].map(address => allowed.coversAddress(address)),
    ).toEqual([false, false, false, false]);
  });

  test('a store may be anywhere but at a special address that no one has allowed', () => {
    expect(['10.9.9.9', '127.0.0.1', '52.216.0.1'].map(address => allowed.mayBeStore(address))).toEqual([
      true,
      true,
      true,
    ]);
    expect(['127.0.0.2', '169.254.169.254', '::1'].map(address => allowed.mayBeStore(address))).toEqual([
      false,
      false,
      false,
    ]);
  });

  test('everything is everything', () => {
    const all = new AllowedAddresses(['*']);
    expect([all.coversName('any'), all.coversAddress('::1'), all.mayBeStore('127.0.0.1')]).toEqual([
      true,
      true,
      true,
    ]);
  });

  test.each(['10.0.0.0/33', 'a b', 'https://host', 'host:2379', '10.0.0.1/8/8', '*.', '**'])(
    '"%s" is no entry',
    entry => {
      expect(isAllowedEntry(entry)).toBe(false);
      expect(() => new AllowedAddresses([entry])).toThrow(RangeError);
    },
  );
});
