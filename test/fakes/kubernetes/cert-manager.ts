/** What cert-manager does, as far as the operator can say: a Secret for a Certificate, that says exactly what was asked for. */
import type { KubeObject, WritableObject } from '../../../src/kube/port.ts';
import { secret, type TestAuthority } from '../certificates.ts';

export const CERTIFICATE = { apiVersion: 'cert-manager.io/v1', kind: 'Certificate' } as const;

/** The parts of a Certificate's specification that tests look at. */
export interface CertificateSpec {
  readonly secretName: string;
  readonly secretTemplate?: { readonly labels?: Readonly<Record<string, string>> };
  readonly commonName: string;
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
  readonly usages: readonly string[];
  readonly issuerRef: object;
  readonly privateKey: object;
}

/** The Secret for a Certificate, signed by `authority`. */
export async function issuedFor(certificate: KubeObject, authority: TestAuthority): Promise<WritableObject> {
  const { namespace = '', name } = certificate.metadata;
  const spec = certificate['spec'] as CertificateSpec;
  const { cert, key } = await authority.issue({
    commonName: spec.commonName,
    usages: (['server', 'client'] as const).filter(usage => spec.usages.includes(`${usage} auth`)),
    dnsNames: spec.dnsNames ?? [],
    addresses: spec.ipAddresses ?? [],
  });
  const texts = { 'tls.crt': cert, 'tls.key': key, 'ca.crt': authority.pair.cert };
  const made = secret(namespace, spec.secretName, texts);
  const labels = spec.secretTemplate?.labels ?? {};
  const annotations = { 'cert-manager.io/certificate-name': name };
  return { ...made, metadata: { ...made.metadata, labels, annotations } } as WritableObject;
}
