/**
 * The pod that makes a member's data out of a snapshot that lies on the member's volume: with the etcdutl of the cluster's
 * own etcd, between two small steps of ours that make it one that can be begun again. Pure.
 */
import { API_VERSION, FIELD_MANAGER, LABEL_MANAGED_BY, LABEL_NAME } from '../api/names.ts';
import { DATA_DIR, VOLUME_PATH } from './etcd-arguments.ts';
import type { PodPlace } from './claim-store.ts';
import type { RawObject } from '../api/schemas/types.ts';
import { helperResources } from './helper-resources.ts';
import { CONTAINER_SECURITY, WORK_POD } from './security.ts';

/** Where the snapshot lies: its key when the volume is opened as a store. */
export const SNAPSHOT_KEY = 'restore/snapshot.db';
/** What the first container says when all was done before. */
export const DONE_BEFORE = 'restored before';

/** Its containers, in the order in which they run. */
export const SEED_CONTAINERS = ['prepare', 'restore', 'finish'] as const;

/** Of each such pod. */
export const SEED_POD_LABELS = { [LABEL_NAME]: 'etcd-restore', [LABEL_MANAGED_BY]: FIELD_MANAGER } as const;

/** The EtcdRestore that a pod works for. */
interface Restore {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Of a pod that goes with its EtcdRestore. */
export function restorePodMetadata({ namespace, name: restore, uid }: Restore, name: string) {
  const owner = { apiVersion: API_VERSION, kind: 'EtcdRestore', name: restore, uid, controller: true };
  return { name, namespace, labels: SEED_POD_LABELS, ownerReferences: [owner] };
}

export interface SeedPod {
  readonly restore: Restore;
  readonly member: { readonly name: string; readonly peerUrl: string; readonly token: string };
  readonly claim: string;
  readonly images: { readonly operator: string; readonly etcd: string };
  /** By how much revisions are raised; 0: not at all. */
  readonly revisionBump: number;
  /** The snapshot is the database of a survivor (survivor-pod.ts), which has no checksum at its end. */
  readonly isDatabase?: boolean;
  readonly place: PodPlace;
  /** Of the cluster's own pods: nothing of them runs beside it. */
  readonly resources?: RawObject | undefined;
}

/** Of each of its containers, which run one after the other. */
const NEEDED = { requests: { cpu: '50m', memory: '96Mi' } };

/** The name of the pod; one for each member, and names of members are never used twice. */
export function seedPodName(member: string): string {
  return `${member}-seed`;
}

/** @throws never: equal for equal arguments */
export function seedPod(of: SeedPod) {
  const { restore, member, claim, images, place, resources } = of;
  const volumeMounts = [{ name: 'data', mountPath: VOLUME_PATH }];
  const shared = {
    imagePullPolicy: 'IfNotPresent',
    resources: helperResources(NEEDED, resources),
    securityContext: CONTAINER_SECURITY,
    volumeMounts,
  };
  const own = (task: 'prepare' | 'finish') => ({
    name: task,
    image: images.operator,
    command: ['/usr/local/bin/node', '/app/dist/main/seed.js'],
    args: [task, VOLUME_PATH],
    terminationMessagePolicy: 'File',
    ...shared,
  });
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: restorePodMetadata(restore, seedPodName(member.name)),
    spec: {
      ...WORK_POD,
      ...place,
      initContainers: [
        own('prepare'),
        {
          name: 'restore',
          image: images.etcd,
          command: ['/usr/local/bin/etcdutl'],
          args: restoreArguments(of),
          terminationMessagePolicy: 'FallbackToLogsOnError',
          ...shared,
        },
      ],
      containers: [own('finish')],
      volumes: [{ name: 'data', persistentVolumeClaim: { claimName: claim } }],
    },
  };
}

/** Both of the last two or neither (etcdutl's own rule): without compaction old watchers would go on in silence. */
function restoreArguments({ member, revisionBump, isDatabase = false }: SeedPod): string[] {
  return [
    'snapshot',
    'restore',
    `${VOLUME_PATH}/${SNAPSHOT_KEY}`,
    `--data-dir=${DATA_DIR}`,
    `--name=${member.name}`,
    `--initial-cluster=${member.name}=${member.peerUrl}`,
    `--initial-cluster-token=${member.token}`,
    `--initial-advertise-peer-urls=${member.peerUrl}`,
    ...(isDatabase ? ['--skip-hash-check'] : []),
    ...(revisionBump > 0 ? [`--bump-revision=${revisionBump}`, '--mark-compacted'] : []),
  ];
}
