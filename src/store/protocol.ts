/** What one store of a cloud brings: the verbs of its protocol. `RemoteStore` makes a store of them. */
import type { ObjectContent, StoredObject, StoreError } from './port.ts';

/** What a protocol says of an object. `putId` is what its writer put into its metadata. */
export interface DescribedObject extends StoredObject {
  readonly putId: string | undefined;
}

/** One object that is to be made; `putId` is kept with it, so that its writer knows it again. */
export interface NewObject {
  readonly key: string;
  readonly putId: string;
}

/** An upload in parts. What fails throws anything; `Protocol.translate` says what it means. */
export interface Upload {
  /** Numbers count from 1. */
  part(
    part: { readonly number: number; readonly bytes: Buffer; readonly last: boolean },
    signal: AbortSignal,
  ): Promise<void>;
  /** Makes the object of the parts, unless there is one. */
  commit(signal: AbortSignal): Promise<void>;
  abort(signal: AbortSignal): Promise<void>;
}

export interface Page {
  readonly objects: readonly StoredObject[];
  /** What asks for the next page; absent on the last one. */
  readonly next?: string | undefined;
}

export interface UnfinishedUpload {
  /** Of the object that it was to become. */
  readonly key: string;
  readonly begunAt: number;
  abort(signal: AbortSignal): Promise<void>;
}

/** The verbs of one store. Everything throws what the library or the connection throws. */
export interface Protocol {
  readonly location: string;
  /** How many parts may be on their way at once. */
  readonly parallel: number;
  /** Throws what is translated to `not-found` when it is not there. */
  head(key: string, signal: AbortSignal): Promise<DescribedObject>;
  /** `offset` is below the object's size, unless it is 0. */
  get(key: string, offset: number, signal: AbortSignal): Promise<ObjectContent>;
  page(prefix: string, token: string | undefined, signal: AbortSignal): Promise<Page>;
  delete(key: string, signal: AbortSignal): Promise<void>;
  /** Makes a small object in one request, unless there is one. */
  putWhole(object: NewObject, bytes: Buffer, signal: AbortSignal): Promise<void>;
  begin(object: NewObject, signal: AbortSignal): Promise<Upload>;
  /** Uploads that were begun and not ended; absent where the store forgets them by itself. */
  unfinished?(prefix: string, signal: AbortSignal): AsyncIterable<UnfinishedUpload>;
  translate(error: unknown, what: string): StoreError;
  close(): Promise<void>;
}
