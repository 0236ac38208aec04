/** The manifest by which krew installs the plugin (krew.sigs.k8s.io/docs/developer-guide/plugin-manifest). Pure. */
import { stringify } from 'yaml';

export interface PluginArchive {
  /** The file of the release. */
  readonly name: string;
  /** As krew calls it. */
  readonly architecture: string;
  /** In hexadecimal. */
  readonly sha256: string;
}

/** Where nothing can be: what is made without an address is installed from archives at hand. RFC 2606. */
export const NOWHERE = 'https://downloads.invalid';

/** @param base the address under which the files of the release are published */
export function krewManifest(version: string, archives: readonly PluginArchive[], base = NOWHERE): string {
  const folder = base.replace(/\/+$/, '');
  const manifest = {
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: 'etcd' },
    spec: {
      version: `v${version}`,
      shortDescription: 'Show and steer etcd clusters of etcd-operator',
      description:
        'Says what the operator does with an etcd cluster and why it waits, plans changes before they are applied, sends what users ask for,\n' +
        'and writes reports for support.\n',
      caveats:
        'For shell completion, write the program that kubectl runs into a folder on PATH:\n' +
        '  kubectl etcd completion kubectl > ~/.local/bin/kubectl_complete-etcd\n' +
        '  chmod +x ~/.local/bin/kubectl_complete-etcd\n',
      platforms: archives.map(({ name, architecture, sha256 }) => ({
        selector: { matchLabels: { os: 'linux', arch: architecture } },
        uri: `${folder}/${name}`,
        sha256,
        bin: 'kubectl-etcd',
      })),
    },
  };
  return stringify(manifest, { lineWidth: 0 });
}
