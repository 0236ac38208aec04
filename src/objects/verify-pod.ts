/**
 * The pod that verifies a backup on the side: it takes the object from the operator into a folder that goes with it, has the
 * tools of the cluster's own etcd read it, and says what they say in its termination message. Pure.
 */
import type { BackupVerification } from '../api/defaults/etcd-backup.ts';
import {
  CLAIM_STORE_PORT,
  type ClaimStoreOwner,
  claimStoreName,
  IDENTITY_FOLDER,
  metadataOf,
  type PodPlace,
  STREAMING_ENV,
  STREAMING_FLAGS,
} from './claim-store.ts';
import { etcdBeside, HELPER_CONTAINER } from './etcd-beside.ts';
import type { RawObject } from '../api/schemas/types.ts';
import { helperResources } from './helper-resources.ts';
import { WORK_POD } from './security.ts';

/** Where the container finds its scratch. */
export const SCRATCH_FOLDER = '/scratch';
/** The key of the snapshot when the scratch is opened as a store. */
export const SCRATCH_SNAPSHOT = 'snapshot.db';
/** The container whose termination message is the report. */
export const VERIFIER = 'verify';

export interface VerifyPod {
  readonly images: { readonly operator: string; readonly etcd: string };
  readonly level: Exclude<BackupVerification, 'Checksum'>;
  /** At which the restored data is hashed, in decimal; empty: at its last. */
  readonly revision: string;
  /** Bytes of the snapshot, decompressed. */
  readonly snapshotSize: number;
  /** After which the kubelet ends the pod, whatever has become of the operator. */
  readonly secondsLeft: number;
  readonly place: PodPlace;
  /** Of the cluster's own pods. */
  readonly resources?: RawObject | undefined;
}

/** Two segments of etcd's log, which it makes in full length, and room for what it writes when it starts. */
const STARTING_BYTES = 256 * 1024 * 1024;

/** @throws never: equal for equal arguments */
export function verifyPod(owner: ClaimStoreOwner, of: VerifyPod) {
  const { images, level, revision, secondsLeft, place, resources } = of;
  const scratch = scratchBytes(of);
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: metadataOf(owner),
    spec: {
      ...WORK_POD,
      activeDeadlineSeconds: Math.max(1, Math.ceil(secondsLeft)),
      ...place,
      // The image of etcd has no shell and nothing that copies: its files are seen through its process.
      shareProcessNamespace: true,
      containers: [
        {
          name: VERIFIER,
          image: images.operator,
          command: ['/usr/local/bin/node', ...STREAMING_FLAGS, '/app/dist/main/verify.js'],
          args: [level, revision],
          env: STREAMING_ENV,
          ports: [{ name: 'https', containerPort: CLAIM_STORE_PORT }],
          resources: helperResources(
            { requests: { cpu: '100m', memory: '256Mi', 'ephemeral-storage': `${scratch}` } },
            resources,
          ),
          terminationMessagePolicy: 'FallbackToLogsOnError',
          volumeMounts: [
            { name: 'scratch', mountPath: SCRATCH_FOLDER },
            { name: 'identity', mountPath: IDENTITY_FOLDER, readOnly: true },
          ],
          ...HELPER_CONTAINER,
        },
        etcdBeside(images.etcd, resources),
      ],
      volumes: [
        { name: 'scratch', emptyDir: { sizeLimit: `${scratch}` } },
        { name: 'identity', secret: { secretName: claimStoreName(owner), defaultMode: 0o440 } },
      ],
    },
  };
}

/** The snapshot, and what is made of it. */
function scratchBytes({ level, snapshotSize }: VerifyPod): number {
  return level === 'Structure' ? snapshotSize + 16 * 1024 * 1024 : 2 * snapshotSize + STARTING_BYTES;
}
