/** The CRDs as the bundle needs them. */
import { customResourceDefinitions } from '../../src/api/schemas/crd.ts';

/** As far as it is read here. */
export interface CrdSchema {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, CrdSchema>>;
}

export interface Crd {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly names: { readonly kind: string; readonly plural: string };
    readonly versions: readonly {
      readonly name: string;
      readonly schema: { readonly openAPIV3Schema: CrdSchema };
    }[];
  };
}

/** In the order of deploy/crd. */
export function crds(): Crd[] {
  return customResourceDefinitions() as unknown as Crd[];
}
