import { readFileSync, writeFileSync } from 'node:fs';
import { stringify } from 'yaml';

export interface KubeconfigInput {
  context: string;
  server: string;
  certificateAuthorityFile: string;
  /** Path without `.crt` and `.key`. */
  clientCertificate: string;
}

/** A kubeconfig with everything embedded, so that it can be copied anywhere. */
export function renderKubeconfig(input: KubeconfigInput): string {
  const encoded = (path: string): string => readFileSync(path).toString('base64');
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: input.context,
        cluster: {
          server: input.server,
          'certificate-authority-data': encoded(input.certificateAuthorityFile),
        },
      },
    ],
    users: [
      {
        name: input.context,
        user: {
          'client-certificate-data': encoded(`${input.clientCertificate}.crt`),
          'client-key-data': encoded(`${input.clientCertificate}.key`),
        },
      },
    ],
    contexts: [{ name: input.context, context: { cluster: input.context, user: input.context } }],
    'current-context': input.context,
  });
}

/** Writes a kubeconfig that only its owner may read. */
export function writeKubeconfig(path: string, input: KubeconfigInput): void {
  writeFileSync(path, renderKubeconfig(input), { mode: 0o600 });
}
