/** Pods of members as other releases, other operators and users make them. */
import { ANNOTATION_RENDERED } from '../../../src/api/names.ts';
import type { KubeObject } from '../../../src/kube/port.ts';
import {
  INITIAL_CLUSTER_ENV,
  INITIAL_CLUSTER_STATE_ENV,
} from '../../../src/api/values/reserved-environment.ts';
import { podsOf, type World } from '../e2e.ts';
import { poll } from '../poll.ts';
import type { Place } from './drill.ts';

interface Container {
  readonly args: readonly string[];
  readonly [field: string]: unknown;
}

async function podOf(world: World, at: Place, member: string): Promise<KubeObject> {
  const pod = (await podsOf(world, at.namespace, at.name)).find(({ metadata }) => metadata.name === member);
  if (pod === undefined) throw new Error(`there is no pod ${member}`);
  return pod;
}

/** Makes the pod again with the values of the bootstrap in its arguments. Nobody else may make it meanwhile. */
export async function makeWithBootstrap(world: World, at: Place, member: string): Promise<void> {
  const { metadata, spec } = (await podOf(world, at, member)) as KubeObject & {
    readonly spec: { readonly containers: readonly Container[] };
  };
  const members = (await podsOf(world, at.namespace, at.name)).map(pod => pod.metadata.name);
  const urls = members.map(name => `${name}=http://${name}.${at.name}.${at.namespace}.svc:2380`);
  const values: Readonly<Record<string, string>> = {
    [`$(${INITIAL_CLUSTER_ENV})`]: urls.join(','),
    [`$(${INITIAL_CLUSTER_STATE_ENV})`]: 'new',
  };
  const containers = spec.containers.map(container => ({
    ...container,
    args: container.args.map(argument =>
      Object.entries(values).reduce((text, [variable, value]) => text.replace(variable, value), argument),
    ),
  }));
  const { name, namespace, labels, annotations, ownerReferences } = metadata;
  await world.stack.kubectl('-n', at.namespace, 'delete', 'pod', member, '--now');
  await poll(() =>
    world.kube.create({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, namespace, labels, annotations, ownerReferences },
      spec: { ...spec, containers },
    } as KubeObject),
  );
}

/** Has a pod say of itself that it was rendered with another grace period, as by a release that gave it one. */
export async function renderedOtherwise(world: World, at: Place, member: string): Promise<void> {
  const { metadata } = await podOf(world, at, member);
  const stamp = JSON.parse(metadata.annotations?.[ANNOTATION_RENDERED] ?? '') as object;
  const other = JSON.stringify({ ...stamp, 'spec.terminationGracePeriodSeconds': '0'.repeat(16) });
  await world.stack.kubectl(
    ...['-n', at.namespace, 'annotate', 'pod', member, '--overwrite', `${ANNOTATION_RENDERED}=${other}`],
  );
}
