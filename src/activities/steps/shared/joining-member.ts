/** The claim and the pod of a member that joins a cluster. */
import type { EtcdCluster } from '../../../api/schemas/types.ts';
import { memberClaim } from '../../../objects/claim.ts';
import type { ManifestObject } from '../../../objects/manifest.ts';
import { memberPod } from '../../../objects/pod.ts';
import { memberViews } from '../../../planner/model/member-view.ts';
import { peerUrlOf } from '../../../planner/model/identity.ts';
import type { MembersObserved } from '../../observe/members.ts';

interface Joining {
  readonly cluster: EtcdCluster;
  readonly observation: MembersObserved;
  readonly member: string;
}

/** As they are made with the members that are listed and this one; no claim where members keep their data in their pods. */
export function joiningMember({ cluster, observation, member: name }: Joining): {
  readonly claim: ManifestObject | undefined;
  readonly pod: ManifestObject;
} {
  const { incarnation, storage, currentVersion: version } = cluster.status ?? {};
  const names = new Set([...memberViews(observation).map(view => view.name), name]);
  const members = [...names].map(each => ({ name: each, peerUrl: peerUrlOf(observation.cluster, each) }));
  const member = { name, token: incarnation?.token ?? '', version };
  const start = { state: 'join', members } as const;
  return {
    claim:
      storage?.kind === 'PersistentVolumeClaim'
        ? memberClaim(cluster, { ...member, storageClassName: storage.storageClassName })
        : undefined,
    pod: memberPod(cluster, { ...member, start, storage: storage?.kind ?? 'PersistentVolumeClaim' }),
  };
}
