/** How workflows name the EtcdCluster that an activity is about. */
export interface ClusterRef {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}
