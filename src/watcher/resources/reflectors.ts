import { type KubeClient, type KubeLogger, silentLogger } from '../../kube/port.ts';
import { Reflector } from '../../kube/reflector.ts';
import type { ReflectorFactory } from '../model/ports.ts';

/** Reflectors on a real apiserver (or a fake one behind the same port). `loggerOf` gets the kind. */
export function kubeReflectors(
  client: Pick<KubeClient, 'list' | 'watch'>,
  loggerOf: (kind: string) => KubeLogger = () => silentLogger,
): ReflectorFactory {
  return ({ apiVersion, kind, namespace, labelSelector, metadataOnly, slim, onChange }) => {
    const reflector = new Reflector({
      client,
      kind: { apiVersion, kind },
      namespace,
      labelSelector,
      metadataOnly,
      slim,
      logger: loggerOf(kind),
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
      isForbidden: () => reflector.isForbidden,
    };
  };
}
