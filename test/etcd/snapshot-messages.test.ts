/** The messages of a snapshot, however the network cuts them. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SnapshotMessages } from '../../src/etcd/snapshot-messages.ts';
import { framedSnapshot, snapshotMessage } from '../fakes/etcd/snapshot-stream.ts';

const DATABASE = Buffer.from(Array.from({ length: 4096 }, (_, index) => index % 251));

function read(messages: SnapshotMessages, pieces: readonly Buffer[]) {
  return pieces.flatMap(piece => messages.take(piece));
}

function cut(bytes: Buffer, at: readonly number[]): Buffer[] {
  const ends = [...at.map(each => each % bytes.length).toSorted((a, b) => a - b), bytes.length];
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

describe('the messages of a snapshot', () => {
  test('are the same however they are cut', () => {
    const stream = framedSnapshot(DATABASE, { piece: 1000, version: '3.6.0' });
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 60 }), cuts => {
        const messages = new SnapshotMessages();
        const chunks = read(messages, cut(stream, cuts));
        const bytes = Buffer.concat(chunks.map(({ blob }) => blob));
        expect(bytes.subarray(0, DATABASE.length).equals(DATABASE)).toBe(true);
        expect(bytes).toHaveLength(DATABASE.length + 32);
        expect(chunks.at(-1)?.storageVersion).toBe('3.6.0');
        expect(messages.isBetween).toBe(true);
        // What a chunk says is still to come, and what did come after it, are the same: so the first says the size.
        let come = 0;
        const sizes = chunks.map(({ blob, remainingBytes }) => (come += blob.length) + remainingBytes);
        expect(new Set(sizes.slice(0, sizes.findLastIndex(size => size === DATABASE.length) + 1))).toEqual(
          new Set([DATABASE.length]),
        );
      }),
      { numRuns: 50 },
    );
  });

  test('one byte at a time', () => {
    const messages = new SnapshotMessages();
    const stream = framedSnapshot(DATABASE, { piece: 3000, version: '' });
    const pieces = Array.from(stream, byte => Buffer.from([byte]));
    expect(read(messages, pieces)).toHaveLength(DATABASE.length + 32);
  });

  test('that end too soon are not between two', () => {
    const messages = new SnapshotMessages();
    messages.take(framedSnapshot(DATABASE, { piece: 1000, version: '' }).subarray(0, -1));
    expect(messages.isBetween).toBe(false);
  });

  test('sizes beyond 32 bits are exact', () => {
    const remaining = 5 * 2 ** 40 + 7;
    const [chunk] = new SnapshotMessages().take(snapshotMessage({ remaining, blob: Buffer.from('x') }));
    expect(chunk?.remainingBytes).toBe(remaining);
  });

  test.each([
    ['compressed', Buffer.from([1, 0, 0, 0, 1, 0])],
    ['of an unknown kind', Buffer.from([0, 0, 0, 0, 2, 0x0d, 0])],
    ['longer than their message', Buffer.from([0, 0, 0, 0, 3, 0x1a, 9, 9])],
  ])('%s are refused', (_, bytes) => {
    expect(() => new SnapshotMessages().take(bytes)).toThrow(/message of the (snapshot|member)/);
  });
});
