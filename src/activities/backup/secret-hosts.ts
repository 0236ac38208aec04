/**
 * Where what a Secret holds may be sent. Anyone who may create an EtcdBackup names any Secret of the namespace, and an endpoint; who
 * may change the Secret says which hosts it is for (docs/decisions/0053-tenants-and-addresses.md).
 */
import { ANNOTATION_HOSTS } from '../../api/names.ts';
import type { KubeObject } from '../../kube/port.ts';
import { AllowedAddresses, isAllowedEntry } from '../../store/addresses.ts';

/** The hosts that its annotation names, and those of administrators; entries that are none are left out. */
export function hostsOfSecret(
  secret: KubeObject | undefined,
  ofAdministrators: readonly string[],
): AllowedAddresses {
  const noted = secret?.metadata.annotations?.[ANNOTATION_HOSTS] ?? '';
  const named = noted.split(',').map(entry => entry.trim());
  return new AllowedAddresses([...named.filter(isAllowedEntry), ...ofAdministrators]);
}
