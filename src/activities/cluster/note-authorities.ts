/** Notes on a member's pod, before it is made, which authorities its etcd is going to read. */
import type { EtcdCluster } from '../../api/schemas/types.ts';
import type { KubeClient } from '../../kube/port.ts';
import type { ManifestObject } from '../../objects/manifest.ts';
import { authoritiesNote, TRUSTING_ROLES } from '../../objects/trusted.ts';
import { fingerprintsOf } from '../../tls/fingerprints.ts';
import { readTlsSecrets } from '../observe/certificate-secrets.ts';

/**
 * Adds the note to a pod. Read before the pod is made: what is put into a Secret in between counts as what the member does not know,
 * and brings it a restart; the other way round it would count as known by a member that never read it.
 */
export async function authoritiesNoted(
  kube: KubeClient,
  cluster: EtcdCluster,
): Promise<(pod: ManifestObject) => ManifestObject> {
  const secrets = await readTlsSecrets(kube, cluster);
  const lists = TRUSTING_ROLES.flatMap(role => {
    const ca = secrets.find(({ source }) => source.role === role)?.material?.ca;
    const fingerprints = ca === undefined ? undefined : fingerprintsOf(ca);
    return fingerprints === undefined ? [] : [[role, fingerprints] as const];
  });
  const note = authoritiesNote(Object.fromEntries(lists));
  return pod => ({
    ...pod,
    metadata: { ...pod.metadata, annotations: { ...pod.metadata.annotations, ...note } },
  });
}
