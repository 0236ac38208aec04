import type { ResourceEvent } from '../../api/events.ts';
import type { Kind, REQUEST_KIND, ResourceId } from '../../api/names.ts';
import type { EtcdPort } from '../../etcd/port.ts';
import type { KubeClient } from '../../kube/port.ts';
import type { ClaimStoreOwner, PodPlace } from '../../objects/claim-store.ts';
import type { Store } from '../../store/port.ts';
import type { ServedAddress } from '../../store/served/client.ts';
import type { StoreOfSpec } from '../../api/derived/store-of-specification.ts';
import type { ClusterOfBackup } from '../../api/derived/endpoints.ts';
import type { EtcdBackup, EtcdRestoreSpec, RawObject } from '../../api/schemas/types.ts';
import type { BackupReport } from './backup-figures.ts';
import type { PassReport } from './pass-report.ts';
import type { RefusedNamespaces } from '../backup/refused-namespaces.ts';
import type { LargeNamespaces } from '../observe/large-namespaces.ts';
import type { BackupTurns } from '../backup/turns.ts';
import type { WaitTime } from './poll.ts';

interface ActivityLogger {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** Whose store is opened: an EtcdBackup, or an EtcdRestore with the store that it reads from. */
export interface StoreOwner {
  readonly kind: string;
  readonly metadata: Pick<EtcdBackup['metadata'], 'namespace' | 'name' | 'uid'>;
  readonly spec: StoreOfSpec & ClusterOfBackup;
  /** Of an EtcdBackup that copies: from the first store, or to the second. Its runs and their pods know nothing of it. */
  readonly role?: 'first' | 'second';
  /** Of an EtcdRestore: the cluster that it fills, and how it is made when there is none. */
  readonly restored?: Pick<EtcdRestoreSpec, 'etcdCluster' | 'clusterTemplate'>;
}

/** Everything that activities reach the world through. Made once, in main/. */
export interface Dependencies {
  readonly kube: KubeClient;
  readonly etcd: EtcdPort;
  /** Opens the store that a backup or restore names, with the credentials that its Secret holds. To be closed. */
  readonly openStore: (owner: StoreOwner) => Promise<Store>;
  /** Opens a claim as a store, through a pod beside it. To be closed, which ends the pod. */
  readonly openVolume: (
    owner: ClaimStoreOwner,
    of: { readonly claim: string; readonly place: PodPlace; readonly resources?: RawObject | undefined },
  ) => Promise<Store>;
  /** Opens what a pod of ours serves. Sends nothing yet; to be closed. */
  readonly openServed: (address: ServedAddress) => Store;
  /** The image that holds this program. */
  readonly ownImage: () => Promise<string>;
  /** Records an event; never throws and never waits for the API server. */
  readonly recordEvent: (
    target: ResourceId & { readonly kind: Kind | typeof REQUEST_KIND },
    event: ResourceEvent,
  ) => void;
  /** The turns of snapshots at stores, and at the nodes whose members are read; everybody has one at once when left out. */
  readonly turns?: BackupTurns;
  /** By how many seconds a scheduled backup may begin later, where its specification does not say; 0 when left out. */
  readonly backupJitterSeconds?: number;
  /** Where EtcdBackups may name endpoints outside of their own namespace: hosts, addresses and blocks; nowhere when left out. */
  readonly endpointsAllowed?: readonly string[];
  /** The namespaces that this operator looks after, and may read in; undefined: all. */
  readonly watchNamespaces?: readonly string[] | undefined;
  /** Which of those have refused for long; when left out, none is passed over. */
  readonly refusedNamespaces?: RefusedNamespaces;
  /** Which namespaces had many pods or claims of late; when left out, each pass of a new cluster finds it out. */
  readonly largeNamespaces?: LargeNamespaces;
  /** Where an authSecret may be sent besides, in the same form; nowhere when left out. */
  readonly credentialHosts?: readonly string[];
  readonly logger: ActivityLogger;
  /** Takes note of one pass of a cluster: what was seen and what was decided. */
  readonly onPass: (report: PassReport) => void;
  /** Takes note of a run of an EtcdBackup that has ended. */
  readonly onBackup: (ended: BackupReport) => void;
  /** Takes note of an EtcdRequest that has ended; nobody does when left out. */
  readonly onRequest?: (action: string, outcome: string) => void;
  /** Milliseconds since the epoch, by the API server's clock. */
  readonly now: () => number;
  /** By how many milliseconds the clock of this machine is ahead of that; negative when it is behind. */
  readonly clockAheadMs: () => number;
  readonly time: WaitTime;
}
