/** Which Secrets a resource names. Pure. */
import { STORE_ROWS } from '../../api/stores.ts';
import type { KubeObject } from '../../kube/port.ts';
import { at, textAt } from '../model/json.ts';

/** Paths below the specification of a cluster (the template of an EtcdRestore has the same). */
const OF_CLUSTER = [
  ['TLS', 'static', 'member', 'peerSecret'],
  ['TLS', 'static', 'member', 'serverSecret'],
  ['TLS', 'static', 'operatorSecret'],
] as const;

/** Paths below the specification of a backup or a restore: how the store and the members are reached. */
const OF_STORE = [
  ...STORE_ROWS.flatMap(({ block, secret }) =>
    secret === undefined
      ? []
      : [
          [block, secret.field],
          ['secondStore', block, secret.field],
        ],
  ),
  ['clientTLSSecret'],
  ['authSecret'],
];

/** The names of the Secrets that a resource refers to, in its own namespace, each once and in order. */
export function secretReferences(resource: KubeObject): string[] {
  const spec = at(resource, 'spec');
  const found = [...OF_CLUSTER, ...OF_STORE].map(path => textAt(spec, ...path));
  const template = at(spec, 'clusterTemplate');
  found.push(...OF_CLUSTER.map(path => textAt(template, ...path)));
  return [...new Set(found.filter(name => name !== undefined))].sort();
}
