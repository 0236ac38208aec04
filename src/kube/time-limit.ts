/** A client that makes no call after some moment. */
import { KubeError } from './errors.ts';
import type { KubeClient } from './port.ts';

/**
 * The same client, whose calls end when no time is left. Watches have no limit.
 * @param leftMs milliseconds that are left
 * @throws KubeError `Timeout` of a call that begins when none is left
 */
export function withTimeLimit(kube: KubeClient, leftMs: () => number): KubeClient {
  const limited = <Options extends object>(options: Options): Options & { readonly timeoutMs: number } => {
    const timeoutMs = leftMs();
    if (timeoutMs > 0) return { ...options, timeoutMs };
    const message = 'the call was not made: no time was left for it';
    throw new KubeError({ code: 0, reason: 'Timeout', message, retry: 'later', notProcessed: true });
  };
  return {
    get: async (ref, options = {}) => kube.get(ref, limited(options)),
    list: async (kind, options = {}) => kube.list(kind, limited(options)),
    create: async (object, options = {}) => kube.create(object, limited(options)),
    apply: async (object, options = {}) => kube.apply(object, limited(options)),
    patch: async (ref, patch, options) => kube.patch(ref, patch, limited(options)),
    replace: async (object, options = {}) => kube.replace(object, limited(options)),
    delete: async (ref, options = {}) => kube.delete(ref, limited(options)),
    watch: (kind, options) => kube.watch(kind, options),
  };
}
