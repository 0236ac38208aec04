/** A client whose calls take so long at most. */
import type { KubeClient } from './port.ts';

/** The same client; a call that names no deadline has this one, in milliseconds. Watches have none. */
export function withTimeLimit(kube: KubeClient, timeoutMs: number): KubeClient {
  return {
    get: (ref, options) => kube.get(ref, { timeoutMs, ...options }),
    list: (kind, options) => kube.list(kind, { timeoutMs, ...options }),
    create: (object, options) => kube.create(object, { timeoutMs, ...options }),
    apply: (object, options) => kube.apply(object, { timeoutMs, ...options }),
    patch: (ref, patch, options) => kube.patch(ref, patch, { timeoutMs, ...options }),
    replace: (object, options) => kube.replace(object, { timeoutMs, ...options }),
    delete: (ref, options) => kube.delete(ref, { timeoutMs, ...options }),
    watch: (kind, options) => kube.watch(kind, options),
  };
}
