/** The smallest bbolt database that says what etcd's snapshots say of themselves. */
const PAGE = 4096;
const HEADER = 16;

/** A leaf page of one element. */
function leaf(id: number, { key, value, flags }: { key: string; value: Buffer; flags: number }): Buffer {
  const page = Buffer.alloc(HEADER + 16);
  page.writeBigUInt64LE(BigInt(id), 0);
  page.writeUInt16LE(0x02, 8);
  page.writeUInt16LE(1, 10);
  page.writeUInt32LE(flags, HEADER);
  page.writeUInt32LE(16, HEADER + 4);
  page.writeUInt32LE(Buffer.byteLength(key), HEADER + 8);
  page.writeUInt32LE(value.length, HEADER + 12);
  return Buffer.concat([page, Buffer.from(key), value]);
}

function meta(transaction: number, root: number): Buffer {
  const page = Buffer.alloc(PAGE);
  page.writeUInt16LE(0x04, 8);
  page.writeUInt32LE(0xed0cdaed, HEADER);
  page.writeUInt32LE(2, HEADER + 4);
  page.writeUInt32LE(PAGE, HEADER + 8);
  page.writeBigUInt64LE(BigInt(root), HEADER + 16);
  page.writeBigUInt64LE(BigInt(transaction), HEADER + 48);
  let sum = 0xcbf29ce484222325n;
  for (const byte of page.subarray(HEADER, HEADER + 56))
    sum = BigInt.asUintN(64, (sum ^ BigInt(byte)) * 0x100000001b3n);
  page.writeBigUInt64LE(sum, HEADER + 56);
  return page;
}

/** @param transactions of the two first pages, which both name the root at `roots` */
export function boltFile(
  storageVersion: string,
  { transactions = [1, 2], roots = [3, 3] }: { transactions?: number[]; roots?: number[] } = {},
): Buffer {
  const value = Buffer.from(storageVersion);
  return fileWith({ bucket: 'meta', key: 'storageVersion', value }, { transactions, roots });
}

/** A database that says whether authentication is switched on. */
export function authFile(isEnabled: boolean): Buffer {
  const value = Buffer.from([isEnabled ? 1 : 0]);
  return fileWith({ bucket: 'auth', key: 'authEnabled', value }, { transactions: [1, 2], roots: [3, 3] });
}

function fileWith(
  { bucket, key, value }: { bucket: string; key: string; value: Buffer },
  { transactions, roots }: { transactions: number[]; roots: number[] },
): Buffer {
  const inline = Buffer.concat([Buffer.alloc(HEADER), leaf(0, { key, value, flags: 0 })]);
  const root = leaf(3, { key: bucket, value: inline, flags: 1 });
  const pages = [0, 1].map(at => meta(transactions[at] ?? 0, roots[at] ?? 0));
  return Buffer.concat([...pages, Buffer.alloc(PAGE), root, Buffer.alloc(PAGE - root.length)]);
}
