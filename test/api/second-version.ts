/** The generated CRDs with a version v1 of the same schema beside v1beta2, as docs/development/versions-of-the-api.md describes. */
import { GROUP, VERSION } from '../../src/api/names.ts';
import { type CustomResourceDefinition, customResourceDefinitions } from '../../src/api/schemas/crd.ts';
import type { KubeObject } from '../../src/kube/port.ts';

export const SECOND = 'v1';
export const SECOND_API_VERSION = `${GROUP}/${SECOND}`;

/** Both versions of every kind; objects are written to etcd in the one named. */
export function withSecondVersion(storage: typeof VERSION | typeof SECOND): KubeObject[] {
  return customResourceDefinitions().map(definition => bothVersions(definition, storage));
}

function bothVersions(definition: CustomResourceDefinition, storage: string): KubeObject {
  const [version] = definition.spec.versions;
  const versions = [VERSION, SECOND].map(name => ({ ...version, name, storage: name === storage }));
  return { ...definition, spec: { ...definition.spec, conversion: { strategy: 'None' }, versions } };
}
