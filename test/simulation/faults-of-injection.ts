/** Webhooks and policies of a namespace, which put containers into pods, and what becomes of these. */
import type { Fault } from './fault.ts';
import { isSeed } from './sim-kubelet.ts';

/** A namespace is labelled for a mesh, or not any more: pods that are there stay as they are. */
const injectionChanged: Fault = world => {
  world.kube.injects = !world.kube.injects;
  return String(world.kube.injects);
};

/** A container beside etcd ends again and again: the pod is not ready, and its member is well. */
const sidecarFails: Fault = (world, random) => {
  const pod = random.pick(world.kube.all('Pod').filter(each => !isSeed(each)));
  if (pod === undefined) return undefined;
  world.kubelet.hampered.add(pod.metadata.name);
  return pod.metadata.name;
};

export const faultsOfInjection = { injectionChanged, sidecarFails };
