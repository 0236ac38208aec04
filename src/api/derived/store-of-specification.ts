/** The store that a specification names: its block, and the Secret with its credentials. Pure. */
import type { EtcdBackupSpec } from '../schemas/types.ts';
import { type BlockName, STORE_ROWS, storeRow } from '../stores.ts';

/** The blocks of a store, as EtcdBackup and EtcdRestore have them. */
export type StoreBlocks = Pick<EtcdBackupSpec, BlockName>;
/** A specification that names a store. */
export type StoreOfSpec = StoreBlocks & Pick<EtcdBackupSpec, 'storageType'>;

/** What blocks have in common. */
interface AnyBlock {
  readonly path: string;
  readonly claim?: string;
  readonly endpoint?: string;
  readonly caSecret?: string;
  readonly region?: string;
}

/** The block that belongs to the type, where it is there. */
export function storeBlock(spec: StoreBlocks, type: string): AnyBlock | undefined {
  const row = storeRow(type);
  return row && spec[row.block];
}

/** The blocks that are there, of whichever type. */
export function blocksOf(spec: StoreBlocks): StoreBlocks {
  const there = STORE_ROWS.map(({ block }) => block as BlockName).filter(block => spec[block] !== undefined);
  return Object.fromEntries(there.map(block => [block, spec[block]]));
}

/** A resource with the second store in the place of the first; undefined where there is none. */
export function inSecondStore<Of extends { readonly spec: EtcdBackupSpec }>(of: Of): Of | undefined {
  const { secondStore, ...spec } = of.spec;
  if (secondStore === undefined) return undefined;
  const others = Object.entries(spec).filter(([field]) => !BLOCKS.includes(field));
  return { ...of, spec: { ...Object.fromEntries(others), ...secondStore } };
}

const BLOCKS: readonly string[] = STORE_ROWS.map(({ block }) => block);

/** The Secret with the authorities of the store's endpoint. Undefined: none is named. */
export function authoritiesSecretOf(spec: StoreOfSpec): string | undefined {
  return storeBlock(spec, spec.storageType)?.caSecret || undefined;
}

/** The Secret with the credentials of the store. Undefined: none is named. */
export function secretNameOf(spec: StoreOfSpec): string | undefined {
  const field = storeRow(spec.storageType)?.secret?.field ?? '';
  const block: Readonly<Record<string, unknown>> = { ...storeBlock(spec, spec.storageType) };
  const name = block[field];
  return typeof name === 'string' && name !== '' ? name : undefined;
}
