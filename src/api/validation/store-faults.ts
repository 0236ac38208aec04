/** What is wrong with the addresses of backups and of what is backed up, as sentences. The schema says the same at admission. Pure. */
import { STORE_TYPES, storeRow } from '../stores.ts';
import { isElsewhere, placeOf, serverOf } from '../derived/backup-names.ts';
import { secretNameOf, type StoreBlocks, storeBlock } from '../derived/store-of-specification.ts';
import type { EtcdBackupSpec } from '../schemas/types.ts';
import { quote } from '../values/syntax.ts';

/** The faults of the store that a backup is kept in, or is read from. `field` names its type; `at`: where that and the blocks are. */
export function storeFaults(
  spec: StoreBlocks,
  { field, type, at = 'spec' }: { readonly field: string; readonly type: string; readonly at?: string },
): string[] {
  const name = storeRow(type)?.block;
  if (name === undefined) {
    const known = `${STORE_TYPES.slice(0, -1).join(', ')} or ${STORE_TYPES.at(-1)}`;
    return [`${at}.${field} ${quote(type)} is unknown: write ${known}`];
  }
  const block = storeBlock(spec, type);
  if (block === undefined) return [`${at}.${field} ${type} needs the block ${at}.${name}`];
  const isOutside = block.path.split('/').some(part => part === '.' || part === '..');
  // No store allows a colon in the name of a bucket or container.
  const hasScheme = type !== 'File' && block.path.split('/')[0]?.includes(':') === true;
  return [
    ...(hasScheme
      ? [
          `${at}.${name}.path ${quote(block.path)} must begin with the ${storeRow(type)?.container}, without a scheme such as s3://`,
        ]
      : []),
    ...(isOutside ? [`${at}.${name}.path ${quote(block.path)} must not have . or .. as a part`] : []),
    ...schemeFaults(`${at}.${name}.endpoint`, block.endpoint),
    ...regionFaults(`${at}.${name}.region`, block.region),
  ];
}

/**
 * Why nothing is copied to the second store. What of it may be in the way of the first store's own objects is refused, and so is what would be lost
 * together with them.
 */
export function secondStoreFaults(spec: EtcdBackupSpec): readonly string[] {
  const { secondStore: second } = spec;
  if (second === undefined) return [];
  const faults = storeFaults(second, {
    field: 'storageType',
    type: second.storageType,
    at: 'spec.secondStore',
  });
  const [one, other] = [placeOf(spec), placeOf(second)];
  if (faults.length > 0 || one === undefined || other === undefined) return faults;
  const isSame =
    spec.storageType === second.storageType &&
    one.container === other.container &&
    !isElsewhere(serverOf(spec), serverOf(second));
  if (!isSame) return [];
  const { container = 'bucket' } = storeRow(spec.storageType) ?? {};
  const overlap = one.key.startsWith(other.key) || other.key.startsWith(one.key);
  if (container !== 'claim' && secretNameOf(spec) !== secretNameOf(second) && !overlap) return [];
  return [
    `spec.secondStore must be another ${container}${container === 'claim' ? '' : ', or at another endpoint'}: what is in the same ${container} would be lost together`,
  ];
}

function regionFaults(path: string, region = ''): readonly string[] {
  return /^[A-Za-z0-9_.-]*$/.test(region)
    ? []
    : [`${path} ${quote(region)} must be the name of a region, such as eu-central-1, without spaces`];
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
