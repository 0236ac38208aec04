import { describe, expect, it } from 'vitest';
import { asksForUsers, storageVersionOf } from '../../src/etcd/snapshot-facts.ts';
import { authFile, boltFile } from '../fakes/etcd/bolt-file.ts';

const versionIn = (file: Buffer): Promise<string> =>
  storageVersionOf(async (offset, length) => file.subarray(offset, offset + length));

describe('the storage version of a snapshot', () => {
  it('is read from its own pages', async () => {
    expect(await versionIn(boltFile('3.7.0'))).toBe('3.7.0');
  });

  it('is that of the later of its two transactions', async () => {
    expect(await versionIn(boltFile('3.6.0', { transactions: [7, 6], roots: [3, 2] }))).toBe('3.6.0');
    expect(await versionIn(boltFile('3.6.0', { transactions: [6, 7], roots: [3, 2] }))).toBe('');
  });

  it('survives a description that is torn', async () => {
    const file = boltFile('3.6.0', { transactions: [1, 2] });
    file.fill(0xff, 4096 + 16, 4096 + 80);
    expect(await versionIn(file)).toBe('3.6.0');
  });

  it.each([
    ['of nothing', Buffer.alloc(0)],
    ['of something else', Buffer.alloc(16_384, 7)],
    ['of what is cut off', boltFile('3.6.0').subarray(0, 9_000)],
    ['of what is no version', boltFile('garbage')],
    ['whose root lies behind its end', boltFile('3.6.0', { roots: [99, 99] })],
  ])('is empty %s', async (_, file) => {
    expect(await versionIn(file)).toBe('');
  });

  it('throws at no damage, wherever it is', async () => {
    const whole = boltFile('3.6.0');
    for (let at = 4096 * 3; at < 4096 * 3 + 120; at += 1) {
      const file = Buffer.from(whole);
      file[at] = 0xff;
      await expect(versionIn(file)).resolves.toMatch(/^$|^\d+\.\d+\.\d+$/);
    }
  });
});

describe('authentication in a snapshot', () => {
  it.each([
    ['switched on', authFile(true), true],
    ['switched off', authFile(false), false],
    ['never heard of', boltFile('3.6.0'), false],
    ['of something else', Buffer.alloc(16_384, 7), false],
  ])('is seen when it is %s', async (_, file, expected) => {
    const asks = await asksForUsers(async (offset, length) => file.subarray(offset, offset + length));
    expect(asks).toBe(expected);
  });
});
