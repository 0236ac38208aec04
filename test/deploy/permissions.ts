/** Every right of the operator and what needs it: deploy/rbac grants exactly these. */

export interface Permission {
  readonly group: string;
  readonly resource: string;
  readonly verbs: readonly string[];
  /** Only these objects; all when left out. */
  readonly names?: readonly string[];
  readonly because: string;
}

const own = 'etcd.database.coreos.com';

/** In all namespaces. */
export const clusterPermissions: readonly Permission[] = [
  ...['etcdclusters', 'etcdbackups', 'etcdrestores'].flatMap((resource): Permission[] => [
    {
      group: own,
      resource,
      verbs: ['get', 'list', 'watch'],
      because: 'the watcher follows them, a pass reads one',
    },
    {
      group: own,
      resource: `${resource}/status`,
      verbs: ['update', 'patch'],
      because: 'a pass replaces the status, the watcher applies its own conditions',
    },
    {
      group: own,
      resource: `${resource}/finalizers`,
      verbs: ['update'],
      because:
        'blockOwnerDeletion in the owner references of what is made (OwnerReferencesPermissionEnforcement)',
    },
  ]),
  ...['etcdclusters', 'etcdbackups'].map(
    (resource): Permission => ({
      group: own,
      resource,
      verbs: ['patch'],
      because: 'the finalizer is put on and taken off',
    }),
  ),
  {
    group: own,
    resource: 'etcdrequests',
    verbs: ['list', 'watch', 'delete'],
    because: 'the watcher follows what users ask for, and deletes what has been finished for long',
  },
  {
    group: own,
    resource: 'etcdrequests/status',
    verbs: ['patch'],
    because: 'the watcher writes what became of it',
  },
  {
    group: own,
    resource: 'etcdclusters',
    verbs: ['create'],
    because: 'an EtcdRestore with a clusterTemplate makes the cluster that it restores into',
  },
  {
    group: own,
    resource: 'etcdrestores',
    verbs: ['create'],
    because: 'recovery.totalLoss RestoreLatestBackup asks for a restore when every volume is lost',
  },
  ...['pods', 'persistentvolumeclaims'].map(
    (resource): Permission => ({
      group: '',
      resource,
      verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'],
      because:
        'members: made, looked at, watched, stamped with their identity, enlarged, stopped to be started anew, and deleted with their cluster',
    }),
  ),
  {
    group: '',
    resource: 'persistentvolumes',
    verbs: ['get'],
    because: 'which nodes the volume of a member without a pod can be used on',
  },
  {
    group: '',
    resource: 'nodes',
    verbs: ['get', 'list'],
    because:
      'whether one of those nodes is still there, found by the labels that the volume asks for, and whether the node of a pod that does not end is; whether the node of a member with its data in its pod is about to be drained',
  },
  ...[
    { group: '', resource: 'services' },
    { group: 'policy', resource: 'poddisruptionbudgets' },
    { group: 'cert-manager.io', resource: 'certificates' },
  ].map(
    (of): Permission => ({
      ...of,
      verbs: ['delete'],
      because:
        'none is deleted: where OwnerReferencesPermissionEnforcement is on, as in OpenShift, who puts an owner on an object that is there, as when an orphaned cluster is taken up, must be allowed to delete it',
    }),
  ),
  ...[
    { group: '', resource: 'services' },
    { group: 'policy', resource: 'poddisruptionbudgets' },
  ].map(
    (of): Permission => ({
      ...of,
      verbs: ['get', 'list', 'watch', 'create', 'patch'],
      because:
        'one of each cluster, put back when it was edited; the garbage collector deletes them with their owner',
    }),
  ),
  {
    group: '',
    resource: 'secrets',
    verbs: ['get', 'list', 'watch', 'create', 'patch'],
    because:
      'the watcher signals a resource when a Secret that it names has changed, a pass reads the certificates of a cluster, those of TLS.auto are issued and renewed, and a backup reads the credentials of its store and makes those of the pod that lends it a claim',
  },
  {
    group: 'cert-manager.io',
    resource: 'certificates',
    verbs: ['get', 'list', 'create', 'patch'],
    because: 'those of a cluster with TLS.certManager are asked for and looked at; they go with their owner',
  },
  {
    group: 'storage.k8s.io',
    resource: 'storageclasses',
    verbs: ['list'],
    because: 'is there a default class, and does a class let volumes grow',
  },
  {
    group: '',
    resource: 'events',
    verbs: ['get', 'create', 'patch'],
    because: 'transitions are reported; a repeated one raises the count of the first',
  },
];

/** In the operator's own namespace. */
export const ownNamespacePermissions: readonly Permission[] = [
  {
    group: 'coordination.k8s.io',
    resource: 'leases',
    verbs: ['create'],
    because: 'the first candidate makes the lease; RBAC cannot limit create by name',
  },
  {
    group: 'coordination.k8s.io',
    resource: 'leases',
    names: ['etcd-operator-watcher'],
    verbs: ['get', 'update', 'watch'],
    because: 'the election of the replica that watches',
  },
];
