/**
 * The messages of a snapshot, read out of the bytes of their stream. A blob is given piece by piece as it comes, as a view of what
 * came: nothing is copied or gathered. gRPC puts five bytes before a message, whether it is compressed and how long it is
 * (PROTOCOL-HTTP2 of grpc); in it are protobuf's fields of `SnapshotResponse` (etcd's api/etcdserverpb/rpc.proto).
 */
import { BYTES, fieldAt } from './protobuf.ts';
import type { SnapshotChunk } from './port.ts';

const PREFIX = 5;
const REMAINING_BYTES = 2;
const BLOB = 3;
const VERSION = 4;
/** What is not the blob is small: a header of four numbers and a version. */
const LONGEST_FIELD = 4096;

/** To be given all bytes of one stream, in order and in pieces of any length. */
export class SnapshotMessages {
  /** Bytes of a field or a prefix that has not come wholly. */
  #held: Buffer = Buffer.alloc(0);
  /** Of the message, and of the blob, that are still to come. */
  #messageLeft = 0;
  #blobLeft = 0;
  #remaining = 0;
  #version = '';

  /** The pieces of blobs in these bytes. Throws for what is no snapshot. */
  take(bytes: Buffer): SnapshotChunk[] {
    const data = this.#held.length === 0 ? bytes : Buffer.concat([this.#held, bytes]);
    const chunks: SnapshotChunk[] = [];
    let at = 0;
    while (at < data.length) {
      const end = this.#blobLeft > 0 ? this.#piece(data, at, chunks) : this.#next(data, at);
      if (end === undefined) break;
      at = end;
    }
    this.#held = data.subarray(at);
    if (this.#held.length > LONGEST_FIELD) throw new Error('a message of the snapshot has an unknown form');
    return chunks;
  }

  /** Whether the stream may end here: between two messages. */
  get isBetween(): boolean {
    return this.#messageLeft === 0 && this.#held.length === 0;
  }

  #piece(data: Buffer, at: number, chunks: SnapshotChunk[]): number {
    const blob = data.subarray(at, at + this.#blobLeft);
    this.#blobLeft -= blob.length;
    this.#messageLeft -= blob.length;
    chunks.push({
      blob,
      remainingBytes: this.#remaining + this.#blobLeft,
      storageVersion: this.#version,
    });
    return at + blob.length;
  }

  /** Where the prefix or the field ends that begins here; undefined while it is not there wholly. */
  #next(data: Buffer, at: number): number | undefined {
    if (this.#messageLeft > 0) return this.#field(data, at);
    if (data.length - at < PREFIX) return undefined;
    if (data[at] !== 0) throw new Error('a message of the snapshot is compressed, which was not requested');
    this.#messageLeft = data.readUInt32BE(at + 1);
    // Protobuf leaves out what is zero.
    this.#remaining = 0;
    return at + PREFIX;
  }

  #field(data: Buffer, at: number): number | undefined {
    const field = fieldAt(data, at);
    if (field === undefined) return undefined;
    const { number, type, value } = field;
    if (type === BYTES && number === BLOB) {
      this.#blobLeft = value;
      return this.#passed(field.end - at, field.end);
    }
    const end = type === BYTES ? field.end + value : field.end;
    if (end > data.length) return undefined;
    if (number === REMAINING_BYTES) this.#remaining = value;
    if (number === VERSION) this.#version = data.toString('utf8', field.end, end);
    return this.#passed(end - at, end);
  }

  #passed(bytes: number, end: number): number {
    this.#messageLeft -= bytes;
    if (this.#messageLeft < this.#blobLeft)
      throw new Error('a message of the snapshot is longer than it says');
    return end;
  }
}
