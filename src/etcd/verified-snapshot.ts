/**
 * Proves a snapshot while it flows by. etcd sends the database and, after it, the SHA-256 of what it has sent
 * (etcdserver/api/v3rpc/maintenance.go). A stream that ends well without that trailer is a failed snapshot; etcd's own
 * client looks only at the size.
 */
import { createHash } from 'node:crypto';
import { EtcdError, type SnapshotChunk } from './port.ts';

const TRAILER = 32;
/** bbolt writes whole pages, and no page is smaller than this. */
const BLOCK = 512;

/** What is known of a snapshot once it has been read to its end. */
export interface SnapshotProof {
  /** Bytes: the database and its trailer. */
  readonly size: number;
  /** Of the database, in hexadecimal. */
  readonly sha256: string;
  /** Of the database and its trailer. */
  readonly wholeSha256: string;
  readonly storageVersion: string;
}

/** The bytes of a snapshot, trailer included, and what they proved to be. */
export interface VerifiedSnapshot {
  /** To be read once. Its last step throws `EtcdError` `corrupt` when the snapshot is not whole. */
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Bytes of the database that are expected, as etcd has said; undefined before the first came. */
  expected(): number | undefined;
  /** Bytes that came. */
  received(): number;
  /** Throws before the end was reached. */
  proof(): SnapshotProof;
}

/** @param source what `EtcdMember.snapshot` answers */
export function verifiedSnapshot(source: AsyncIterable<SnapshotChunk>): VerifiedSnapshot {
  const check = new TrailerCheck();
  let expected: number | undefined;
  let storageVersion = '';
  let proof: SnapshotProof | undefined;
  async function* read(): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      if (expected === undefined) expected = chunk.remainingBytes + chunk.blob.length;
      if (chunk.storageVersion !== '') ({ storageVersion } = chunk);
      check.take(chunk.blob);
      yield chunk.blob;
    }
    proof = { ...check.end(expected), storageVersion };
  }
  return {
    bytes: read(),
    expected: () => expected,
    received: () => check.size,
    proof: () => {
      if (proof === undefined) throw new Error('the snapshot was not read to its end');
      return proof;
    },
  };
}

/** Checks bytes that end with their own checksum, wherever they come from. */
export class TrailerCheck {
  readonly #hash = createHash('sha256');
  /** The last bytes, which may be the trailer. */
  #held: Buffer = Buffer.alloc(0);
  size = 0;

  take(bytes: Uint8Array): void {
    this.size += bytes.length;
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    if (chunk.length >= TRAILER) {
      this.#hash.update(this.#held);
      this.#hash.update(chunk.subarray(0, chunk.length - TRAILER));
      this.#held = Buffer.from(chunk.subarray(chunk.length - TRAILER));
      return;
    }
    const both = Buffer.concat([this.#held, chunk]);
    const cut = Math.max(0, both.length - TRAILER);
    this.#hash.update(both.subarray(0, cut));
    this.#held = both.subarray(cut);
  }

  /**
   * Throws `corrupt` when the bytes are no whole snapshot.
   * @param expected the size of the database, where it is known
   */
  end(expected?: number): Omit<SnapshotProof, 'storageVersion'> {
    const database = this.size - TRAILER;
    const wholeSha256 = this.#hash.copy().update(this.#held).digest('hex');
    const sha256 = this.#hash.digest('hex');
    const fault = this.#faultOf(database, { sha256, expected });
    if (fault !== undefined)
      throw new EtcdError('corrupt', `the snapshot is corrupt or incomplete: ${fault}`);
    return { size: this.size, sha256, wholeSha256 };
  }

  #faultOf(
    database: number,
    { sha256, expected }: { readonly sha256: string; readonly expected: number | undefined },
  ): string | undefined {
    if (database <= 0) return `it has ${this.size} bytes`;
    if (expected !== undefined && expected !== database) {
      return `etcd announced ${expected} bytes and sent ${database}`;
    }
    if (database % BLOCK !== 0)
      return `its ${database} bytes are not whole pages, so its checksum is missing`;
    return this.#held.toString('hex') === sha256 ? undefined : 'its checksum does not match';
  }
}
