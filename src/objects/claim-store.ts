/**
 * The pod that lends a claim to the operator: it mounts the claim and serves it as a store. Made for one backup (or restore) at a
 * time, gone after it. Pure.
 */
import { API_VERSION, FIELD_MANAGER, LABEL_MANAGED_BY, LABEL_NAME } from '../api/names.ts';
import type { RawObject } from '../api/schemas/types.ts';
import { helperResources } from './helper-resources.ts';
import { CONTAINER_SECURITY, WORK_POD } from './security.ts';

export const CLAIM_STORE_PORT = 8443;
/** The name in the certificate; nobody looks it up. */
export const CLAIM_STORE_HOST = 'claim-store.etcd-operator';
/** The container that lends the claim, and the volume that is the claim. */
export const CLAIM_STORE = 'claim-store';
export const CLAIM_VOLUME = 'claim';
/** Where the container finds the claim, and its token and certificate. */
export const CLAIM_FOLDER = '/claim';
export const IDENTITY_FOLDER = '/identity';
/** Keys of its Secret. */
export const IDENTITY = { cert: 'tls.crt', key: 'tls.key', ca: 'ca.crt', token: 'token' } as const;

export interface ClaimStoreOwner {
  readonly kind: 'EtcdBackup' | 'EtcdRestore';
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /**
   * Absent: the claim that a backup lies in. `volume`: the one that a restore fills. `verify`: no claim, the scratch of a verification. `first`
   * and `second`: the claims that backups are copied from and to.
   */
  readonly role?: 'volume' | 'verify' | 'first' | 'second';
}

/** Of the pod and of its Secret; 63 characters at most. Long names that begin alike are distinguished by their uids. */
export function claimStoreName({ kind, name, uid, role }: ClaimStoreOwner): string {
  // A name may hold dots, and no part between two of them may begin with a dash.
  const short =
    name.length <= 40 ? name : `${name.slice(0, 40).replace(/[^a-z0-9]+$/, '')}-${uid.slice(0, 8)}`;
  return `${short}-${kind === 'EtcdBackup' ? 'backup' : 'restore'}-${role ?? 'claim'}`;
}

/** Of the pod and of its Secret. */
export function metadataOf(owner: ClaimStoreOwner) {
  const { kind, namespace, name, uid } = owner;
  return {
    name: claimStoreName(owner),
    namespace,
    labels: { [LABEL_NAME]: 'etcd-claim-store', [LABEL_MANAGED_BY]: FIELD_MANAGER },
    ownerReferences: [{ apiVersion: API_VERSION, kind, name, uid, controller: true }],
  };
}

/** @param data what {@link IDENTITY} names, in base64 */
export function claimStoreSecret(owner: ClaimStoreOwner, data: Readonly<Record<string, string>>) {
  return { apiVersion: 'v1', kind: 'Secret', metadata: metadataOf(owner), type: 'Opaque', data };
}

/** For a process of ours through which much flows and in which little stays. */
export const STREAMING_ENV = [{ name: 'NODE_OPTIONS', value: '--max-old-space-size=128' }] as const;
/**
 * V8 counts the bytes that flow through as if they stayed, and so marks the little that does stay again and again, in steps that
 * take half of the process's time. At once it is a matter of milliseconds.
 */
export const STREAMING_FLAGS = ['--no-incremental-marking'] as const;

/** Where a pod may run and as whom: fields of a pod's specification. */
export type PodPlace = Readonly<Record<string, unknown>>;

/** For a process through which much flows and in which little stays. */
const NEEDED = { requests: { cpu: '50m', memory: '96Mi' }, limits: { memory: '384Mi' } };

/**
 * @param of the operator's own image, the claim to mount, and what is said of the pod where it matters; `resources`: of the cluster's
 * own pods
 */
export function claimStorePod(
  owner: ClaimStoreOwner,
  {
    image,
    claim,
    place = {},
    resources,
  }: {
    readonly image: string;
    readonly claim: string;
    readonly place?: PodPlace;
    readonly resources?: RawObject | undefined;
  },
) {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: metadataOf(owner),
    spec: {
      ...WORK_POD,
      ...place,
      containers: [
        {
          name: CLAIM_STORE,
          image,
          imagePullPolicy: 'IfNotPresent',
          command: ['/usr/local/bin/node', ...STREAMING_FLAGS, '/app/dist/main/claim-store.js'],
          env: STREAMING_ENV,
          ports: [{ name: 'https', containerPort: CLAIM_STORE_PORT }],
          resources: helperResources(NEEDED, resources),
          securityContext: CONTAINER_SECURITY,
          terminationMessagePolicy: 'FallbackToLogsOnError',
          volumeMounts: [
            { name: CLAIM_VOLUME, mountPath: CLAIM_FOLDER },
            { name: 'identity', mountPath: IDENTITY_FOLDER, readOnly: true },
          ],
        },
      ],
      volumes: [
        { name: CLAIM_VOLUME, persistentVolumeClaim: { claimName: claim } },
        { name: 'identity', secret: { secretName: claimStoreName(owner), defaultMode: 0o440 } },
      ],
    },
  };
}
