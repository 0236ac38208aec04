/** What a store is opened with: the block of its type, and what it may use and reach. */
import type { ObjectStoreType, StoreType, STORES } from '../api/stores.ts';
import type { StoreBlocks } from '../api/derived/store-of-specification.ts';
import type { AllowedAddresses } from './addresses.ts';
import type { HttpOptions } from './http.ts';
import type { SecretData } from './secrets.ts';

/** Which store, as its block says; empty texts are as good as none. */
type Specs = {
  readonly [Type in ObjectStoreType]: NonNullable<StoreBlocks[(typeof STORES)[Type]['block']]>;
} & {
  /** `folder` is where the claim is mounted, `path` the key within. */
  readonly File: { readonly folder: string; readonly path: string };
};
export type StoreSpec<Type extends StoreType = StoreType> = {
  [Each in Type]: { readonly type: Each } & Specs[Each];
}[Type];

/** What a store is opened with. */
export interface Opening {
  /** The data of the Secret that the resource names; undefined: the identity of the pod. */
  readonly secret: SecretData | undefined;
  /** Every text of it that must appear nowhere. */
  readonly secrets: readonly string[];
  readonly http: HttpOptions;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly trustedHosts: readonly string[] | undefined;
  readonly secretHosts: AllowedAddresses | undefined;
}
