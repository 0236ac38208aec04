/** What is wrong with the addresses of backups and of what is backed up, as sentences. The schema says the same at admission. Pure. */
import { STORE_TYPES, storeRow } from '../stores.ts';
import { type StoreBlocks, storeBlock } from '../derived/store-of-specification.ts';
import { quote } from '../values/syntax.ts';

/**
 * The faults of the store that a backup is kept in, or is read from.
 * @param field the field of spec that names its type
 */
export function storeFaults(spec: StoreBlocks, field: string, type: string): string[] {
  const name = storeRow(type)?.block;
  if (name === undefined) {
    const known = `${STORE_TYPES.slice(0, -1).join(', ')} or ${STORE_TYPES.at(-1)}`;
    return [`spec.${field} ${quote(type)} is unknown: write ${known}`];
  }
  const block = storeBlock(spec, type);
  if (block === undefined) return [`spec.${field} ${type} needs the block spec.${name}`];
  const isOutside = block.path.split('/').some(part => part === '.' || part === '..');
  // No store allows a colon in the name of a bucket or container.
  const hasScheme = type !== 'File' && block.path.split('/')[0]?.includes(':') === true;
  return [
    ...(hasScheme
      ? [
          `spec.${name}.path ${quote(block.path)} must begin with the ${storeRow(type)?.container}, without a scheme such as s3://`,
        ]
      : []),
    ...(isOutside ? [`spec.${name}.path ${quote(block.path)} must not have . or .. as a part`] : []),
    ...schemeFaults(`spec.${name}.endpoint`, block.endpoint),
    ...regionFaults(`spec.${name}.region`, block.region),
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
