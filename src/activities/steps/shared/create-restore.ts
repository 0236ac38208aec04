/** An EtcdRestore that the operator makes for a cluster itself. */
import { API_VERSION } from '../../../api/names.ts';
import { isAlreadyExists } from '../../../kube/errors.ts';
import type { KubeClient, KubeObject } from '../../../kube/port.ts';
import { preconditionChanged } from '../../runtime/failures.ts';

interface Making {
  readonly namespace: string;
  readonly name: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec: object;
  /** Whether one that is there is of an attempt before. */
  readonly isOurs: (there: KubeObject) => boolean;
  /** What else users may do than delete one that is not. */
  readonly otherwise: string;
}

/**
 * Makes it.
 * @returns false: an attempt before has made it, and has said so
 * @throws ApplicationFailure PreconditionChanged when there is another one of its name
 */
export async function createRestore(
  kube: KubeClient,
  { namespace, name, annotations, spec, isOurs, otherwise }: Making,
): Promise<boolean> {
  const ref = { apiVersion: API_VERSION, kind: 'EtcdRestore' };
  try {
    await kube.create({ ...ref, metadata: { namespace, name, ...(annotations && { annotations }) }, spec });
    return true;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
  const there = await kube.get({ ...ref, namespace, name });
  if (there === undefined || isOurs(there)) return false;
  throw preconditionChanged(
    `EtcdRestore ${namespace}/${name} exists and has a different specification: delete it, ${otherwise}`,
  );
}
