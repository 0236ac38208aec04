import type { ResourceId } from '../../api/names.ts';

/** How workflows name the EtcdCluster that an activity is about. */
export type ClusterRef = ResourceId;
