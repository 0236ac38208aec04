/** Reading protobuf's wire format (its documentation, "Encoding"), for messages of which etcd3 does not know all fields. Pure. */

const VARINT = 0;
/** The type of texts, bytes and messages. */
export const BYTES = 2;

/** A field without its value, where that is bytes. */
interface Field {
  readonly number: number;
  readonly type: number;
  /** The number itself, or how many bytes follow. */
  readonly value: number;
  /** Where it ends. */
  readonly end: number;
}

/** The field that begins here; undefined while it is not there wholly. */
export function fieldAt(data: Buffer, at: number): Field | undefined {
  const tag = varintAt(data, at);
  const value = tag && varintAt(data, tag.end);
  if (tag === undefined || value === undefined) return undefined;
  const type = tag.value % 8;
  if (type !== VARINT && type !== BYTES) throw new Error('a message of the member has an unknown field');
  return { number: Math.floor(tag.value / 8), type, ...value };
}

/** Seven bits a byte, the lowest first, as long as the eighth is set. Exact up to 2^53. */
function varintAt(data: Buffer, at: number): { readonly value: number; readonly end: number } | undefined {
  let value = 0;
  for (let end = at, factor = 1; end < data.length; factor *= 128) {
    const byte = data[end] ?? 0;
    end += 1;
    value += (byte % 128) * factor;
    if (byte < 128) return { value, end };
  }
  return undefined;
}
