/** Leads to the Temporal that the operator uses: through a port that kubectl forwards, or to an address that a person names. */
import { readFileSync } from 'node:fs';
import { apiKeyIn } from '../../../api/values/api-key.ts';
import { KubeError } from '../../../kube/errors.ts';
import type { Call } from '../../commands/command.ts';
import { isPassing } from '../../kube-failures.ts';
import { reach } from '../../views/command-lines.ts';
import { DEFAULTS, hostOf, placeOf, serviceOf, type TemporalPlace } from './place.ts';
import type { Asked } from './temporal.ts';

/** As kubectl says it once its port is open. */
const FORWARDED = /^Forwarding from 127\.0\.0\.1:(\d+)/m;

/** Why Temporal is not reached. The message is a sentence for users. */
export class NotReached extends Error {
  override readonly name = 'NotReached';
}

export type Reached = Pick<Asked, 'address' | 'namespace' | 'tls' | 'apiKey'>;

/**
 * Where to ask; a port that was forwarded is open until `until` is aborted.
 * @throws NotReached with the reason, KubeError while the API server is away
 */
export async function reached(call: Call, operatorNamespace: string, until: AbortSignal): Promise<Reached> {
  const { flags, io } = call;
  const named = flags.value('temporal-address');
  if (named !== undefined) return atAddress(call, operatorNamespace, named);
  const namespace = flags.value('temporal-namespace');
  const apiKey = apiKeyOf(io.env);
  const place = await placeIn(call, operatorNamespace);
  const service = serviceOf(place.address, operatorNamespace);
  if (service === undefined)
    throw new NotReached(
      `Temporal is not in the cluster, but at ${place.address}: name an address that you reach with --temporal-address`,
    );
  const where = reach({ ...call.session.where, namespace: service.namespace });
  const target = [`service/${service.name}`, `:${service.port}`];
  const answer = await io.beside('kubectl', ['port-forward', ...where, ...target], {
    sign: FORWARDED,
    until,
  });
  if (!('sign' in answer))
    throw new NotReached(
      `no port could be forwarded to Service ${service.name} of namespace ${service.namespace}: ${answer.err.trim().split('\n').at(-1) ?? ''}; name an address that you reach with --temporal-address`,
    );
  const isSecure = place.tls || hasTlsFiles(io.env);
  return {
    address: `127.0.0.1:${answer.sign[1]}`,
    namespace: namespace ?? place.namespace,
    tls: isSecure ? certificates(io.env, place.serverName) : false,
    // The key of this environment may be for another Temporal: one that the operator reaches in plain text does not get it.
    apiKey: isSecure ? apiKey : undefined,
  };
}

async function atAddress(call: Call, operatorNamespace: string, address: string): Promise<Reached> {
  const { flags, io } = call;
  const apiKey = apiKeyOf(io.env);
  const isSecure = hasTlsFiles(io.env) || apiKey !== undefined || io.env['TEMPORAL_TLS'] === 'true';
  const namespace =
    flags.value('temporal-namespace') ?? (await placeIn(call, operatorNamespace).catch(toNothing))?.namespace;
  return {
    address,
    namespace: namespace ?? DEFAULTS.TEMPORAL_NAMESPACE,
    tls: isSecure ? certificates(io.env, hostOf(address)) : false,
    apiKey,
  };
}

const hasTlsFiles = (env: Call['io']['env']): boolean =>
  Object.keys(env).some(name => /^TEMPORAL_TLS_.*(_PATH|_NAME)$/.test(name));

/**
 * As Temporal's own CLI takes it, and never without TLS. @throws NotReached for what cannot stand in a header; gRPC would quote it
 */
function apiKeyOf({ TEMPORAL_API_KEY: content = '' }: Call['io']['env']): string | undefined {
  const found = apiKeyIn(content);
  if (found === undefined || 'key' in found) return found?.key;
  throw new NotReached(`TEMPORAL_API_KEY ${found.fault}`);
}

/** A report without the namespace of Temporal's is for the default one. */
function toNothing(error: unknown): undefined {
  if (!(error instanceof NotReached)) throw error;
}

async function placeIn({ session }: Call, namespace: string): Promise<TemporalPlace> {
  const kind = { apiVersion: 'apps/v1', kind: 'Deployment' };
  const labelSelector = 'app.kubernetes.io/name=etcd-operator';
  try {
    const [deployment] = (await session.kube.list(kind, { namespace, labelSelector })).items;
    if (deployment !== undefined) return placeOf(deployment);
    throw new NotReached(
      `there is no Deployment of the operator in namespace ${namespace}: name its namespace with --operator-namespace`,
    );
  } catch (error) {
    const passes: boolean = isPassing(error);
    if (passes || error instanceof NotReached) throw error;
    if (!(error instanceof KubeError || error instanceof RangeError)) throw error;
    throw new NotReached(`${error.message}: name Temporal with --temporal-address`);
  }
}

/** Under the names that Temporal's own CLI gives them. @throws NotReached for a file that cannot be read */
function certificates(env: Call['io']['env'], serverName: string): Exclude<Reached['tls'], boolean> {
  const [ca, crt, key] = ['SERVER_CA_CERT', 'CLIENT_CERT', 'CLIENT_KEY'].map(name =>
    fileOf(env[`TEMPORAL_TLS_${name}_PATH`]),
  );
  return {
    serverNameOverride: env['TEMPORAL_TLS_SERVER_NAME'] ?? serverName,
    ...(ca && { serverRootCACertificate: ca }),
    ...(crt && key && { clientCertPair: { crt, key } }),
  };
}

function fileOf(path: string | undefined): Buffer | undefined {
  if (path === undefined) return undefined;
  try {
    return readFileSync(path);
  } catch (error) {
    throw new NotReached(
      `${path} cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown error'}`,
    );
  }
}
