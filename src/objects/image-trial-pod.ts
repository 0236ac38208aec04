/**
 * A pod that runs nothing but shows that the images of a restore can be pulled, with the credentials and where the pods of the cluster run. Pure.
 */
import type { RawObject } from '../api/schemas/types.ts';
import type { PodPlace } from './claim-store.ts';
import { HELPER_CONTAINER } from './etcd-beside.ts';
import { helperResources } from './helper-resources.ts';
import { WORK_POD } from './security.ts';
import { restorePodMetadata, type SeedPod } from './seed-pod.ts';

interface ImageTrialPod {
  readonly restore: SeedPod['restore'];
  /** The first member that the restore makes. */
  readonly member: string;
  readonly images: { readonly operator: string; readonly etcd: string };
  readonly place: PodPlace;
  /** Of the cluster's own pods. */
  readonly resources?: RawObject | undefined;
}

/** Its containers: one for each image. */
export const IMAGE_TRIALS = ['etcd-image', 'operator-image'] as const;

/** One for each first member: names of members are never used twice. */
export function imageTrialPodName(member: string): string {
  return `${member}-images`;
}

/** @throws never: equal for equal arguments */
export function imageTrialPod({ restore, member, images, place, resources }: ImageTrialPod) {
  const [etcd, operator] = IMAGE_TRIALS;
  const shared = {
    resources: helperResources({ requests: { cpu: '10m', memory: '32Mi' } }, resources),
    terminationMessagePolicy: 'FallbackToLogsOnError',
    ...HELPER_CONTAINER,
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: restorePodMetadata(restore, imageTrialPodName(member)),
    spec: {
      ...WORK_POD,
      ...place,
      containers: [
        { name: etcd, image: images.etcd, command: ['/usr/local/bin/etcdutl'], args: ['version'], ...shared },
        {
          name: operator,
          image: images.operator,
          command: ['/usr/local/bin/node'],
          args: ['--version'],
          ...shared,
        },
      ],
    },
  };
}
