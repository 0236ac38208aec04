/** Whether OpenSSL takes a client certificate at all: it refuses keys of another certificate, and what it holds for too weak. */
import { createSecureContext } from 'node:tls';
import type { ClientTls } from '../../etcd/port.ts';
import { inspect, type Part } from '../../tls/inspect.ts';

/** What keeps a client from showing this certificate. Quotes nothing of it. */
export interface Unusable {
  readonly part: Part;
  readonly detail: string;
}

/** Undefined for material that can be used. Says nothing of whether the other side will trust it. Never throws. */
export function whyUnusable(material: ClientTls): Unusable | undefined {
  try {
    createSecureContext(material);
    return undefined;
  } catch (error) {
    // Our own words first: they name the part.
    const [fault] = inspect(material, { now: 0, usages: [], hosts: [] }).faults.filter(
      ({ kind }) => kind === 'Malformed' || kind === 'KeyMismatch',
    );
    return fault ?? { part: 'cert', detail: `OpenSSL refuses it: ${reasonOf(error)}` };
  }
}

/** OpenSSL's own constant text, such as "ee key too small"; its message could quote a file. */
function reasonOf(error: unknown): string {
  const { reason, code } = (error ?? {}) as { readonly reason?: unknown; readonly code?: unknown };
  return typeof reason === 'string' ? reason : typeof code === 'string' ? code : 'no reason was given';
}
