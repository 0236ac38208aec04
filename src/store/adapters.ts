/** How each type of store is opened. An adapter, and what it needs, is loaded only when it is used. */
import type { StoreType } from '../api/stores.ts';
import type { Opening, StoreSpec } from './opening.ts';
import type { Store } from './port.ts';

const ADAPTERS: {
  readonly [Type in StoreType]: (spec: StoreSpec<Type>, opening: Opening) => Promise<Store>;
} = {
  S3: async (spec, opening) => (await import('./s3.ts')).openS3(spec, opening),
  ABS: async (spec, opening) => (await import('./azure.ts')).openAzure(spec, opening),
  GCS: async (spec, opening) => (await import('./google.ts')).openGoogle(spec, opening),
  OSS: async (spec, opening) => (await import('./oss.ts')).openOss(spec, opening),
  File: async ({ folder }) => (await import('./file.ts')).openFileStore(folder),
};

/** Opens a store with the adapter of its type. */
export function openWith<Type extends StoreType>(spec: StoreSpec<Type>, opening: Opening): Promise<Store> {
  return ADAPTERS[spec.type](spec, opening);
}
