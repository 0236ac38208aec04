/** Opens the store that a backup names, with the credentials that its Secret holds. What it opens is to be closed. */
import { X509Certificate } from 'node:crypto';
import { storeRow } from '../../api/stores.ts';
import { authoritiesSecretOf, secretNameOf, storeBlock } from '../../api/derived/store-of-specification.ts';
import type { StoreOwner } from '../runtime/dependencies.ts';
import type { KubeClient, KubeObject } from '../../kube/port.ts';
import { AllowedAddresses } from '../../store/addresses.ts';
import type { StoreSpec } from '../../store/opening.ts';
import { openStore } from '../../store/open.ts';
import { type Store, StoreError } from '../../store/port.ts';
import { SECRET } from '../runtime/kinds.ts';
import { pullingFor } from './claim-pull.ts';
import { type ClaimStoreDeps, openClaim } from './claim-store.ts';
import { BackupFailure } from './failure.ts';
import { hostsOfSecret } from './secret-hosts.ts';

/** Of the Secret that caSecret names. */
const AUTHORITIES_KEY = 'ca.crt';

export interface StoreDeps extends ClaimStoreDeps {
  /** Whose resources may reach a store with the identity of the operator's pod; `*`: everybody's. */
  readonly identityNamespaces: readonly string[];
  /** In which clouds give the pod its identity. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Where stores may be besides what all may: hosts, addresses, blocks. */
  readonly storesAllowed: readonly string[];
  /** Where what Secrets hold may be sent besides: in the same form. */
  readonly credentialHosts: readonly string[];
}

/** The opener of all storage types. */
export function storeOpener(deps: StoreDeps): (owner: StoreOwner) => Promise<Store> {
  const allowed = new AllowedAddresses(deps.storesAllowed);
  const { environment, memory } = deps;
  return async owner => {
    const { kind: asked, metadata, spec, role } = owner;
    const { namespace, name, uid } = metadata;
    if (spec.storageType === 'File' && spec.file !== undefined) {
      const kind = asked === 'EtcdRestore' ? asked : 'EtcdBackup';
      const like = await pullingFor(deps.kube, owner);
      const copies = role === undefined ? {} : { role };
      return openClaim(deps, { kind, namespace, name, uid, ...copies }, { claim: spec.file.claim, ...like });
    }
    const secret = secretNameOf(spec);
    if (secret === undefined) checkIdentity(deps, namespace, spec);
    const authorities = await readAuthorities(deps.kube, namespace, spec);
    const common = { allowed, authorities, environment, memory: memory.share(namespace) };
    if (secret === undefined) return openStore(storeSpec(spec), undefined, common);
    const object = await readSecret(deps.kube, { namespace, name: secret }, 'credentials');
    const secretHosts = hostsOfSecret(object, deps.credentialHosts);
    return openStore(storeSpec(spec), dataOf(object), { ...common, secretHosts });
  };
}

/**
 * The operator's identity reads and deletes whatever its buckets hold, of whichever namespace: it is lent only to those whom
 * somebody who runs the operator has named (docs/decisions/0053-tenants-and-addresses.md).
 */
function checkIdentity(
  { identityNamespaces }: StoreDeps,
  namespace: string,
  { storageType }: StoreOwner['spec'],
): void {
  const { block, secret } = storeRow(storageType) ?? {};
  if (secret?.orIdentity !== true) return;
  if (identityNamespaces.some(name => name === '*' || name === namespace)) return;
  throw new StoreError(
    'invalid',
    `${block}.${secret.field} names no Secret: name one, or add namespace ${namespace} to IDENTITY_NAMESPACES of the operator to use the operator's identity`,
  );
}

function storeSpec(spec: StoreOwner['spec']): StoreSpec {
  const type = spec.storageType;
  const block = storeBlock(spec, type);
  if (type === 'File' || block === undefined) {
    throw new StoreError('invalid', `storageType ${type} has no configuration block`);
  }
  return { type, ...block };
}

/** Its values stay within the activity that reads them. */
async function readSecret(
  kube: KubeClient,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  what: 'credentials' | 'authorities',
): Promise<KubeObject> {
  const object = await kube.get({ ...SECRET, namespace, name });
  if (object === undefined) {
    throw new BackupFailure(
      'later',
      `Secret ${namespace}/${name} with the ${what} of the store does not exist: create it`,
    );
  }
  return object;
}

/** One certificate of several in a file. */
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The authorities that may have signed the certificate of the endpoint, as PEM. */
async function readAuthorities(
  kube: KubeClient,
  namespace: string,
  spec: StoreOwner['spec'],
): Promise<readonly string[] | undefined> {
  const name = authoritiesSecretOf(spec);
  if (name === undefined) return undefined;
  const object = await readSecret(kube, { namespace, name }, 'authorities');
  const found = dataOf(object)[AUTHORITIES_KEY]?.match(CERTIFICATE) ?? [];
  if (found.length > 0 && found.every(isCertificate)) return found;
  throw new StoreError(
    'invalid',
    `Secret ${namespace}/${name}, which ${storeRow(spec.storageType)?.block}.caSecret names, has no certificates in PEM in its key ${AUTHORITIES_KEY}: put those of the authority of the endpoint there`,
  );
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

function dataOf(object: KubeObject): Readonly<Record<string, string>> {
  const data = (object['data'] ?? {}) as Readonly<Record<string, string>>;
  return Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]),
  );
}
