import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { TarEntry } from './tar.ts';

/** The unprivileged user of images that need none of their own: the number that distroless images use. */
export const nonRootUser = 65532;

/** Where a Linux machine keeps its bundle of CA certificates: Debian and Alpine, Fedora, openSUSE. */
const certificateBundles = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
];

/** The folders and account files that programs expect of any system. Ordered parents first. */
export function baseEntries(): TarEntry[] {
  const folders = ['etc', 'home', 'tmp', 'usr', 'usr/local', 'usr/local/bin', 'var', 'var/lib'];
  const text = (path: string, content: string): TarEntry => ({
    type: 'file',
    path,
    mode: 0o644,
    content: Buffer.from(content),
  });
  const user = nonRootUser;
  return [
    ...folders.map((path): TarEntry => ({ type: 'directory', path, mode: path === 'tmp' ? 0o1777 : 0o755 })),
    text(
      'etc/passwd',
      `root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:${user}:${user}:nonroot:/home:/sbin/nologin\n`,
    ),
    text('etc/group', `root:x:0:\nnonroot:x:${user}:\n`),
    text('etc/nsswitch.conf', 'hosts: files dns\n'),
  ];
}

/** This machine's CA certificates, at the place where Go, OpenSSL and Rust programs look for them. */
export async function certificateEntries(): Promise<TarEntry[]> {
  for (const bundle of certificateBundles) {
    const content = await readFile(bundle).catch(() => undefined);
    if (content === undefined) continue;
    return [
      { type: 'directory', path: 'etc/ssl', mode: 0o755 },
      { type: 'directory', path: 'etc/ssl/certs', mode: 0o755 },
      { type: 'file', path: 'etc/ssl/certs/ca-certificates.crt', mode: 0o644, content },
    ];
  }
  throw new Error(
    `no CA certificates in ${certificateBundles.join(', ')}: install the package ca-certificates`,
  );
}

/** Entries for the folders that hold the given paths, parents first, each once. */
export function parentFolders(paths: readonly string[]): TarEntry[] {
  const folders = new Set<string>();
  for (const path of paths) {
    for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) folders.add(folder);
  }
  return [...folders].sort().map((path): TarEntry => ({ type: 'directory', path, mode: 0o755 }));
}
