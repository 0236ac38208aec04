import type { ApplyOptions, WritableObject } from './port.ts';

/** JSON is YAML, so an apply patch can be sent as JSON under this type. */
export const applyContentType = 'application/apply-patch+yaml';

/**
 * The body of a server-side apply. Of the main resource everything but `status`, of the status subresource
 * nothing but `status`: each would be ignored in the other place, yet be claimed as owned where the kind has no
 * status subresource. managedFields must be absent from an apply
 * (kubernetes.io, "Server-Side Apply"). uid and resourceVersion stay: the apiserver takes them as preconditions.
 */
export function applyBody(object: WritableObject, subresource: ApplyOptions['subresource']): string {
  const { apiVersion, kind, metadata, status, ...rest } = object as WritableObject & { status?: unknown };
  const { name, namespace, uid, resourceVersion } = metadata;
  if (subresource === 'status') {
    return JSON.stringify({ apiVersion, kind, metadata: { name, namespace, uid, resourceVersion }, status });
  }
  return JSON.stringify({ apiVersion, kind, metadata: { ...metadata, managedFields: undefined }, ...rest });
}

/** The query of a server-side apply. */
export function applyQuery(options: ApplyOptions, manager: string): Record<string, string | undefined> {
  return {
    fieldManager: manager,
    force: String(options.force ?? true),
    dryRun: options.dryRun === true ? 'All' : undefined,
  };
}
