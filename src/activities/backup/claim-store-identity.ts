/** What the operator and the pod that lends it a claim know each other by: a certificate and a token, in one Secret. */
import { randomBytes } from 'node:crypto';
import { isAlreadyExists, isConflict } from '../../kube/errors.ts';
import type { KubeClient, KubeObject } from '../../kube/port.ts';
import {
  CLAIM_STORE_HOST,
  type ClaimStoreOwner,
  claimStoreName,
  claimStoreSecret,
  IDENTITY,
} from '../../objects/claim-store.ts';
import { inspect } from '../../tls/inspect.ts';
import { isControlledBy } from '../observe/object-facts.ts';
import { secretText } from '../observe/certificate-secrets.ts';
import { SECRET } from '../runtime/kinds.ts';
import { BackupFailure } from './failure.ts';

const VALID_MS = 400 * 24 * 3_600_000;
/** A resource with a schedule outlives its certificate: of this share of its time a backup may still take all. */
const LEAST_LEFT = 0.25;

export interface IdentityDeps {
  readonly kube: KubeClient;
  readonly now: () => number;
}

/** The Secret of the pod; undefined when there is none that is good for another backup. */
export async function readIdentity(
  { kube, now }: IdentityDeps,
  owner: ClaimStoreOwner,
): Promise<KubeObject | undefined> {
  const { namespace } = owner;
  const name = claimStoreName(owner);
  const found = await kube.get({ ...SECRET, namespace, name });
  if (found === undefined) return undefined;
  if (!isControlledBy(found, owner.uid)) {
    throw new BackupFailure('later', `Secret ${namespace}/${name} is not owned by the operator: delete it`);
  }
  return isGood(found, now()) ? found : undefined;
}

function isGood(secret: KubeObject, now: number): boolean {
  const [cert, key, ca, token] = [IDENTITY.cert, IDENTITY.key, IDENTITY.ca, IDENTITY.token].map(part =>
    secretText(secret, part),
  );
  if (cert === undefined || key === undefined || ca === undefined || !token) return false;
  const demands = { now, usages: ['server'], hosts: [CLAIM_STORE_HOST] } as const;
  const { faults, fractionLeft } = inspect({ cert, key, ca }, demands);
  return faults.length === 0 && fractionLeft > LEAST_LEFT;
}

/** Makes the identity again, in a Secret that the resource owns. To be called when no pod has the former one. */
export async function issueIdentity(deps: IdentityDeps, owner: ClaimStoreOwner): Promise<KubeObject> {
  const { kube, now } = deps;
  const wanted = claimStoreSecret(owner, await newIdentity(now()));
  const { namespace, name } = wanted.metadata;
  const ref = { ...SECRET, namespace, name };
  const found = await kube.get(ref);
  try {
    if (found === undefined) return await kube.create(wanted);
    const { uid, resourceVersion } = found.metadata;
    const metadata = { uid, resourceVersion };
    return await kube.patch(ref, { metadata, data: wanted.data }, { type: 'merge' });
  } catch (error) {
    // An earlier try, taken for dead, may have done it just now.
    const theirs = isAlreadyExists(error) || isConflict(error) ? await readIdentity(deps, owner) : undefined;
    if (theirs === undefined) throw error;
    return theirs;
  }
}

/** In base64, as Secrets hold it. */
async function newIdentity(now: number): Promise<Readonly<Record<string, string>>> {
  const validity = { now, lasts: VALID_MS };
  // Loaded when it is first needed: the library is large.
  const { createAuthority, issueLeaf } = await import('../../tls/issue.ts');
  const authority = await createAuthority('etcd-claim-store', validity);
  const { cert, key } = await issueLeaf(
    authority,
    { commonName: CLAIM_STORE_HOST, usages: ['server'], dnsNames: [CLAIM_STORE_HOST], addresses: [] },
    validity,
  );
  const encoded = (text: string): string => Buffer.from(text).toString('base64');
  return {
    [IDENTITY.cert]: encoded(cert),
    [IDENTITY.key]: encoded(key),
    [IDENTITY.ca]: encoded(authority.cert),
    [IDENTITY.token]: encoded(randomBytes(32).toString('base64url')),
  };
}
