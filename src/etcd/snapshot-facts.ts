/**
 * What a snapshot says of itself: a snapshot is a bbolt database, and only the few pages on the way to a key are read, wherever in
 * the file they lie (server/storage/schema of etcd names buckets and keys).
 */

/** Reads bytes of the snapshot; fewer come only at its end. */
export type ReadAt = (offset: number, length: number) => Promise<Buffer>;

/** bbolt's page.go and meta.go: sizes and offsets in bytes, numbers little-endian. */
const HEADER = 16;
const ELEMENT = 16;
const [BRANCH, LEAF] = [0x01, 0x02];
const BUCKET = 0x01;
const MAGIC = 0xed0cdaed;
/** The first page of the two that describe the database; the page size stands in it, so it is tried with the usual one. */
const META_BYTES = HEADER + 64;
/** Far more than the pages of these small buckets: what is larger is not what we take it for. */
const LARGEST_PAGE = 1024 * 1024;
const DEEPEST = 16;

/**
 * The format of the data, such as `3.6.0`: etcd 3.6 and later write it down (schema/migration.go). Empty when there is none, or when
 * the file is not laid out as expected.
 */
export async function storageVersionOf(read: ReadAt): Promise<string> {
  const version = (await valueOf(read, 'meta', 'storageVersion'))?.toString('utf8') ?? '';
  return /^\d+\.\d+\.\d+$/.test(version) ? version : '';
}

/** Whether authentication is switched on in the data (schema/auth.go); false also when the file is not laid out as expected. */
export async function asksForUsers(read: ReadAt): Promise<boolean> {
  const enabled = await valueOf(read, 'auth', 'authEnabled');
  return enabled?.length === 1 && enabled[0] === 1;
}

async function valueOf(read: ReadAt, bucketName: string, key: string): Promise<Buffer | undefined> {
  const meta = await readMeta(read);
  if (meta === undefined) return undefined;
  const pages = { read, size: meta.pageSize };
  const wanted = { key: bucketName, isBucket: true };
  const bucket = await find(pages, { page: await pageAt(pages, meta.root), wanted, depth: 0 });
  if (bucket === undefined || bucket.length < HEADER) return undefined;
  const root = Number(bucket.readBigUInt64LE(0));
  // A small bucket has its only page right behind its header.
  const page = root === 0 ? bucket.subarray(HEADER) : await pageAt(pages, root);
  return find(pages, { page, wanted: { key, isBucket: false }, depth: 0 });
}

interface Wanted {
  readonly key: string;
  readonly isBucket: boolean;
}

interface Meta {
  readonly pageSize: number;
  readonly root: number;
  readonly transaction: bigint;
}

/** Of the two pages, the one of the later transaction that is whole. */
async function readMeta(read: ReadAt): Promise<Meta | undefined> {
  const first = metaIn(await read(0, META_BYTES));
  const second = metaIn(await read(first?.pageSize ?? 4096, META_BYTES));
  const metas = [first, second].filter(meta => meta !== undefined);
  return metas.toSorted((a, b) => (a.transaction < b.transaction ? 1 : -1))[0];
}

function metaIn(page: Buffer): Meta | undefined {
  if (page.length < META_BYTES) return undefined;
  const meta = page.subarray(HEADER);
  const pageSize = meta.readUInt32LE(8);
  const isWhole = meta.readUInt32LE(0) === MAGIC && meta.readBigUInt64LE(56) === fnv1a(meta.subarray(0, 56));
  if (!isWhole || pageSize < 512 || pageSize > LARGEST_PAGE) return undefined;
  return { pageSize, root: Number(meta.readBigUInt64LE(16)), transaction: meta.readBigUInt64LE(48) };
}

/** FNV-1a in 64 bits, which bbolt checks these pages with. */
function fnv1a(bytes: Buffer): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash;
}

interface Pages {
  readonly read: ReadAt;
  readonly size: number;
}

/** A page with those that continue it; empty for what cannot be one. */
async function pageAt({ read, size }: Pages, id: number): Promise<Buffer> {
  const page = await read(id * size, size);
  if (page.length < size) return Buffer.alloc(0);
  const length = (page.readUInt32LE(12) + 1) * size;
  if (length === size) return page;
  return length > LARGEST_PAGE ? Buffer.alloc(0) : read(id * size, length);
}

/** The value of a key in the tree that begins at a page. Of a bucket: its header, and its page when that is inline. */
async function find(
  pages: Pages,
  { page, wanted, depth }: { readonly page: Buffer; readonly wanted: Wanted; readonly depth: number },
): Promise<Buffer | undefined> {
  if (page.length < HEADER || depth > DEEPEST) return undefined;
  const flags = page.readUInt16LE(8);
  const count = page.readUInt16LE(10);
  const elements = Array.from({ length: count }, (_, index) => HEADER + index * ELEMENT);
  if (elements.some(at => at + ELEMENT > page.length)) return undefined;
  if ((flags & LEAF) !== 0) return leafValue(page, elements, wanted);
  if ((flags & BRANCH) === 0) return undefined;
  const name = Buffer.from(wanted.key);
  const below = elements.findLast(at => {
    const start = at + page.readUInt32LE(at);
    return Buffer.compare(page.subarray(start, start + page.readUInt32LE(at + 4)), name) <= 0;
  });
  if (below === undefined) return undefined;
  const child = await pageAt(pages, Number(page.readBigUInt64LE(below + 8)));
  return find(pages, { page: child, wanted, depth: depth + 1 });
}

function leafValue(page: Buffer, elements: readonly number[], wanted: Wanted): Buffer | undefined {
  for (const at of elements) {
    const start = at + page.readUInt32LE(at + 4);
    const [keySize, valueSize] = [page.readUInt32LE(at + 8), page.readUInt32LE(at + 12)];
    const name = page.subarray(start, start + keySize).toString('utf8');
    const isBucket = (page.readUInt32LE(at) & BUCKET) !== 0;
    if (name === wanted.key && isBucket === wanted.isBucket) {
      return page.subarray(start + keySize, start + keySize + valueSize);
    }
  }
  return undefined;
}
