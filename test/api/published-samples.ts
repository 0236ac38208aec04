/** Manifests as users of the CoreOS operator have them, which must be accepted as they are. */

export const PUBLISHED_SAMPLES: readonly { readonly what: string; readonly yaml: string }[] = [
  {
    what: 'a cluster of the version that its operator ran last',
    yaml: `
apiVersion: "etcd.database.coreos.com/v1beta2"
kind: "EtcdCluster"
metadata:
  name: "example-etcd-cluster"
spec:
  size: 3
  version: "3.2.13"
`,
  },
  {
    what: 'a backup to GCS',
    yaml: `
apiVersion: etcd.database.coreos.com/v1beta2
kind: EtcdBackup
metadata:
  name: backup-etcd-to-gcs
spec:
  etcdEndpoints:
    - https://etcd-cluster-client:2379
  storageType: GCS
  gcs:
    path: gcsbucket/etcd
    gcpSecret: gcp-secret
`,
  },
  {
    what: 'a restore whose name is not that of its cluster',
    yaml: `
apiVersion: etcd.database.coreos.com/v1beta2
kind: EtcdRestore
metadata:
  name: restore-etcd-from-gcs
spec:
  etcdCluster:
    name: sample-etcd-cluster
  backupStorageType: GCS
  gcs:
    path: gcsbucket/etcd
    gcpSecret: gcp-secret
`,
  },
];
