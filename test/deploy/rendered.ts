/** What tests ask of rendered objects. */
import { at, listAt, type Manifest } from './manifests.ts';

/** Kind, namespace and name, for users too. */
export const keyOf = ({ kind, metadata: { namespace = '', name } }: Manifest): string =>
  `${kind} ${namespace}/${name}`;

/** @throws Error that names what there is when this is not */
export function find(objects: readonly Manifest[], kind: string, name = 'etcd-operator'): Manifest {
  const found = objects.find(object => object.kind === kind && object.metadata.name === name);
  if (found === undefined) throw new Error(`no ${kind} ${name} among ${objects.map(keyOf).join(', ')}`);
  return found;
}

/** The template of the operator's pods. */
export function podOf(objects: readonly Manifest[]): unknown {
  const isOperator = ({ kind, metadata }: Manifest): boolean =>
    kind === 'Deployment' && !metadata.name.endsWith('-temporal');
  return at(objects.find(isOperator), 'spec', 'template');
}

/** The variables of the operator's container; what the kubelet fills in is `field`. */
export function environmentOf(objects: readonly Manifest[]): Record<string, string> {
  const variables = listAt(podOf(objects), 'spec', 'containers', 0, 'env');
  return Object.fromEntries(
    variables.map(variable => [String(at(variable, 'name')), String(at(variable, 'value') ?? 'field')]),
  );
}
