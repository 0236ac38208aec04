/** What is wrong with the addresses of backups and of what is backed up, as sentences. The schema says the same at admission. Pure. */
import { quote } from './syntax.ts';
import type { EtcdBackupSpec } from './types.ts';

/** The blocks of an EtcdBackup or an EtcdRestore. */
type Blocks = Pick<EtcdBackupSpec, 's3' | 'abs' | 'gcs' | 'oss' | 'file'>;

const BLOCKS: Readonly<Record<string, keyof Blocks>> = {
  S3: 's3',
  ABS: 'abs',
  GCS: 'gcs',
  OSS: 'oss',
  File: 'file',
};

/**
 * The faults of the store that a backup is kept in, or is read from.
 * @param field the field of spec that names its type
 */
export function storeFaults(spec: Blocks, field: string, type: string): string[] {
  const name = BLOCKS[type];
  if (name === undefined) return [`spec.${field} ${quote(type)} is unknown: write S3, ABS, GCS, OSS or File`];
  const block: { readonly path: string; readonly endpoint?: string } | undefined = spec[name];
  if (block === undefined) return [`spec.${field} ${type} needs the block spec.${name}`];
  const isOutside = block.path.split('/').some(part => part === '.' || part === '..');
  return [
    ...(isOutside ? [`spec.${name}.path ${quote(block.path)} must not have . or .. as a part`] : []),
    ...schemeFaults(`spec.${name}.endpoint`, block.endpoint),
  ];
}

/** The faults of addresses of members. */
export function endpointFaults(endpoints: readonly string[] = []): readonly string[] {
  return endpoints.flatMap((endpoint, index) => schemeFaults(`spec.etcdEndpoints[${index}]`, endpoint));
}

function schemeFaults(path: string, address = ''): readonly string[] {
  return !address.includes('://') || /^https?:\/\//.test(address)
    ? []
    : [`${path} ${quote(address)} must begin with https:// or http://`];
}
