/** What the planner knows of the client Service. */
import type { KubeObject } from '../../kube/port.ts';
import { keepsClientsOut } from '../../objects/services.ts';
import type { ManifestObject } from '../../objects/manifest.ts';
import type { ServiceFacts } from '../../planner/model/observation.ts';
import { objectFacts } from './object-facts.ts';

/** The Service as it stands, and which of the pods its selector selects. */
export function serviceFacts(
  service: KubeObject | undefined,
  pods: readonly KubeObject[],
  { ownerUid, wanted }: { readonly ownerUid: string; readonly wanted: ManifestObject },
): ServiceFacts {
  const facts = objectFacts(service, ownerUid, wanted);
  if (service === undefined) return facts;
  if (facts.owned && keepsClientsOut(service)) return { exists: false, owned: true };
  const { selector = {} } = (service['spec'] ?? {}) as { readonly selector?: Record<string, string> };
  const selected = pods.filter(pod => selects(selector, pod));
  return { ...facts, leadsTo: selected.map(({ metadata }) => metadata.name) };
}

/** Kubernetes makes no endpoints for a Service without a selector. */
function selects(
  selector: Readonly<Record<string, string>>,
  { metadata: { labels = {} } }: KubeObject,
): boolean {
  const wanted = Object.entries(selector);
  return wanted.length > 0 && wanted.every(([key, value]) => labels[key] === value);
}
