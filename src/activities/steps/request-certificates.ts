import { certificates } from '../../objects/certificate.ts';
import type { ManifestObject } from '../../objects/manifest.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import type { KubeClient, WritableObject } from '../../kube/port.ts';
import { CERTIFICATE } from '../observe/cert-manager.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { isControlledBy } from '../observe/object-facts.ts';
import { readLivingCluster } from '../resource/etcd-cluster.ts';
import type { Perform } from './shared/perform.ts';

/**
 * Creates the Certificates that the step names, or brings those that are there to what they are to say. cert-manager then makes the
 * Secrets; nothing waits for that here.
 */
export const requestCertificates: Perform<'requestCertificates'> = async (deps, ref, step) => {
  const cluster = await readLivingCluster(deps.kube, ref);
  for (const object of certificates(cluster)) {
    if (step.certificates.includes(object.metadata.name)) await put(deps.kube, object, ref.uid);
  }
};

async function put(kube: KubeClient, object: ManifestObject, owner: string): Promise<void> {
  const { namespace, name, labels } = object.metadata;
  const at = { ...CERTIFICATE, namespace, name };
  const found = await kube.get(at);
  if (found === undefined) {
    try {
      await kube.create(object as unknown as WritableObject);
    } catch (error) {
      if (isAlreadyExists(error))
        throw preconditionChanged(`Certificate ${name} has just been created by someone else`);
      throw error;
    }
    return;
  }
  if (!isControlledBy(found, owner)) {
    throw preconditionChanged(`Certificate ${name} is not owned by this EtcdCluster; delete or rename it`);
  }
  const { uid, resourceVersion } = found.metadata;
  await kube.patch(at, { metadata: { uid, resourceVersion, labels }, spec: object.spec }, { type: 'merge' });
}
