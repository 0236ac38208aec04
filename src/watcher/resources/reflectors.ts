import type { KubeClient } from '../../kube/port.ts';
import { Reflector } from '../../kube/reflector.ts';
import type { ReflectorOptions } from '../../kube/reflector-options.ts';
import type { ReflectorFactory } from '../model/ports.ts';

/** Reflectors on a real apiserver (or a fake one behind the same port). */
export function kubeReflectors(
  client: Pick<KubeClient, 'list' | 'watch'>,
  options: Pick<ReflectorOptions, 'logger' | 'report' | 'timing'> = {},
): ReflectorFactory {
  return ({ apiVersion, kind, namespace, labelSelector, metadataOnly, slim, onChange }) => {
    const reflector = new Reflector({
      ...options,
      client,
      kind: { apiVersion, kind },
      namespace,
      labelSelector,
      metadataOnly,
      slim,
    });
    reflector.subscribe({
      added: object => onChange({ type: 'added', object }),
      updated: (object, previous) => onChange({ type: 'updated', object, previous }),
      deleted: object => onChange({ type: 'deleted', object }),
    });
    return {
      start: () => reflector.start(),
      stop: () => reflector.stop(),
      synced: () => reflector.hasSynced,
    };
  };
}
