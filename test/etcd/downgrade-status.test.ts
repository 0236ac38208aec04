/** What a status of etcd says of downgrades: bytes as 3.6.16 and 3.7.3 sent them (test/integration/etcd-downgrade.integration.test.ts asks them). */
import { describe, expect, it } from 'vitest';
import { downgradeIn } from '../../src/etcd/downgrade-status.ts';

/** A field of bytes. */
function field(number: number, bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from([number * 8 + 2, bytes.length]), bytes]);
}

const VERSION = field(2, Buffer.from('3.7.3'));
const ENABLED = Buffer.from([8, 1]);
const TARGET = field(2, Buffer.from('3.6.0'));

describe('a status', () => {
  it.each([
    ['with a downgrade that is enabled', [VERSION, field(13, Buffer.concat([ENABLED, TARGET]))], '3.6.0'],
    ['whose fields come in another order', [field(13, Buffer.concat([TARGET, ENABLED])), VERSION], '3.6.0'],
    ['with none', [VERSION, field(13, Buffer.alloc(0))], ''],
    ['with a target that is not enabled', [VERSION, field(13, TARGET)], ''],
    ['of a release that does not know of downgrades', [VERSION], ''],
    ['that is empty', [], ''],
  ])('%s', (_, fields, expected) => {
    expect(downgradeIn(Buffer.concat(fields))).toBe(expected);
  });

  it.each([
    ['ends too early', Buffer.from([13 * 8 + 2])],
    ['is of an unknown kind', Buffer.from([2 * 8 + 1, 0, 0, 0, 0, 0, 0, 0, 0])],
    ['names no version', field(13, Buffer.concat([ENABLED, field(2, Buffer.from('3.6\n0'))]))],
  ])('that %s is refused', (_, bytes) => {
    expect(() => downgradeIn(bytes)).toThrow(/message of the member|the member reports/);
  });
});
