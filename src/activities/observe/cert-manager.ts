/** TLS.certManager: what has been asked of it and what has become of that. Contents of Secrets are not looked at here. */
import { LABEL_CLUSTER } from '../../api/names.ts';
import type { EtcdCluster } from '../../api/schemas/types.ts';
import { isNotFound } from '../../kube/errors.ts';
import type { KubeClient, KubeObject } from '../../kube/port.ts';
import { certificates } from '../../objects/certificate.ts';
import { firstFieldDifference } from '../../objects/drift.ts';
import type { ManifestObject } from '../../objects/manifest.ts';
import { canonical } from '../../api/values/canonical.ts';
import type { TlsFacts } from '../../planner/model/tls-facts.ts';
import { isControlledBy } from './object-facts.ts';
import { SECRET } from '../runtime/kinds.ts';

export const CERTIFICATE = { apiVersion: 'cert-manager.io/v1', kind: 'Certificate' } as const;
/** cert-manager writes whose Secret it is onto each that it makes, and overwrites any other of that name. */
const MADE_FOR = 'cert-manager.io/certificate-name';

/** What is asked for, and names that are not free. A list distinguishes a kind that is not served from an object that is not there. */
export async function requestFacts(
  kube: KubeClient,
  cluster: EtcdCluster,
): Promise<Pick<TlsFacts, 'requests' | 'taken'>> {
  const { namespace, name, uid } = cluster.metadata;
  const wanted = certificates(cluster);
  const found = await ours(kube, { namespace, labelSelector: `${LABEL_CLUSTER}=${name}` });
  if (found === undefined) return { requests: { served: false }, taken: [] };
  const existing = new Map(
    found.filter(object => isControlledBy(object, uid)).map(object => [object.metadata.name, object]),
  );
  const missing = wanted.map(({ metadata }) => metadata.name).filter(each => !existing.has(each));
  const left = await Promise.all(missing.map(each => leftUnder(kube, { namespace, name: each })));
  const secrets = new Map(left.map(({ name: each, secret }) => [each, secret]));
  const pending = [...existing].flatMap(([each, object]) => {
    const why = notReady(object);
    return why === undefined ? [] : [[each, why] as const];
  });
  return {
    requests: {
      served: true,
      toRequest: wanted.flatMap(object => {
        const { name: each } = object.metadata;
        return request(object, existing.get(each), secrets.get(each));
      }),
      pending: Object.fromEntries(pending),
    },
    taken: left.flatMap(each => each.taken),
  };
}

type TlsRequest = Extract<NonNullable<TlsFacts['requests']>, { served: true }>['toRequest'][number];

async function ours(
  kube: KubeClient,
  where: { readonly namespace: string; readonly labelSelector: string },
): Promise<readonly KubeObject[] | undefined> {
  try {
    return (await kube.list(CERTIFICATE, where)).items;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

function request(
  wanted: ManifestObject,
  found: KubeObject | undefined,
  secret: KubeObject | undefined,
): TlsRequest[] {
  const certificate = wanted.metadata.name;
  if (found === undefined) {
    const isOther = secret !== undefined && wasIssuedByAnother(secret, wanted);
    return [{ certificate, why: 'it does not exist yet', ...(isOther && { otherIssuer: true as const }) }];
  }
  const why = firstFieldDifference(found, wanted);
  if (why === undefined) return [];
  return [{ certificate, why, ...(isOfAnotherIssuer(found, wanted) && { otherIssuer: true as const }) }];
}

function isOfAnotherIssuer(found: KubeObject, wanted: ManifestObject): boolean {
  const issuerOf = (object: { readonly [field: string]: unknown }) =>
    (object['spec'] as { readonly issuerRef?: object } | undefined)?.issuerRef;
  const asked = issuerOf(found);
  return asked !== undefined && canonical(asked) !== canonical(issuerOf({ ...wanted }));
}

/** cert-manager notes on each Secret who has issued what it holds. */
function wasIssuedByAnother({ metadata }: KubeObject, wanted: ManifestObject): boolean {
  const { annotations = {} } = metadata;
  const issuer = (wanted.spec['issuerRef'] ?? {}) as Readonly<Record<string, string>>;
  return ['name', 'kind', 'group'].some(part => {
    const noted = annotations[`cert-manager.io/issuer-${part}`] ?? '';
    return noted !== '' && noted !== issuer[part];
  });
}

/** What stands where a Certificate is to be: somebody else's, or a Secret that cert-manager did not make for one of ours and would overwrite. */
async function leftUnder(
  kube: KubeClient,
  at: { readonly namespace: string; readonly name: string },
): Promise<{
  readonly name: string;
  readonly taken: readonly string[];
  readonly secret: KubeObject | undefined;
}> {
  const { name } = at;
  const [certificate, secret] = await Promise.all([
    kube.get({ ...CERTIFICATE, ...at }),
    kube.get({ ...SECRET, ...at }),
  ]);
  if (certificate !== undefined) return { name, taken: [`Certificate ${name}`], secret };
  const isMade = secret === undefined || secret.metadata.annotations?.[MADE_FOR] === name;
  return { name, taken: isMade ? [] : [`Secret ${name}`], secret };
}

interface CertificateStatus {
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: string;
    readonly message?: string;
  }[];
}

/** Why a Certificate is not ready, in cert-manager's words; undefined when it is. */
function notReady(object: KubeObject): string | undefined {
  const { conditions = [] } = (object['status'] ?? {}) as CertificateStatus;
  const ready = conditions.find(({ type }) => type === 'Ready');
  if (ready?.status === 'True') return undefined;
  return ready?.message ?? 'cert-manager has not processed it yet';
}
