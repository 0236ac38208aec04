/** Temporal lets the operator in with none of its calls: its API key or certificate is wrong, expired, or without rights. */
import { grpcCode } from '../../watcher/temporal/client.ts';
import { grpcStatus } from './connection.ts';

/** What they can be replaced with comes from files that are read again and again, so trying again can help. */
export class TemporalRefusal extends Error {
  override readonly name = 'TemporalRefusal';
}

/** Whether the server has answered, and refuses who asks or what was asked. */
export function isRefused(error: unknown): boolean {
  return isUnknown(error) || grpcCode(error) === grpcStatus.permissionDenied;
}

/** Whether the server does not know who asks. */
export function isUnknown(error: unknown): boolean {
  return grpcCode(error) === grpcStatus.unauthenticated;
}

interface Refused {
  readonly namespace: string;
  /** Undefined: the operator sends no key. */
  readonly apiKeyFile?: string | undefined;
}

/** The error with what to do. @param cause for which `isRefused` holds */
export function refusal(cause: unknown, { namespace, apiKeyFile }: Refused): TemporalRefusal {
  const code = isUnknown(cause) ? 'UNAUTHENTICATED' : 'PERMISSION_DENIED';
  const what =
    apiKeyFile === undefined
      ? `Temporal does not let the operator use namespace ${namespace} (${code}): give the operator an API key (TEMPORAL_API_KEY_PATH) or a client certificate that`
      : `Temporal does not accept the API key in ${apiKeyFile} for namespace ${namespace} (${code}): put a key into its Secret that has not expired and`;
  return new TemporalRefusal(`${what} may write to the namespace; its file is read again every ten seconds`, {
    cause,
  });
}
