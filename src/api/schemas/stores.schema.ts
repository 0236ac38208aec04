/** The blocks of the stores in the schemas of EtcdBackup and EtcdRestore, from their rows in stores.ts. */
import * as z from 'zod';
import { type CelRule, cel, secretName, text } from './parts.schema.ts';
import { type BlockName, type ObjectStoreType, STORE_TYPES, STORES } from '../stores.ts';

const objectPath = (container: string) =>
  cel(
    text(
      1024,
      `The path of the object: ${container}/key. A periodic backup appends its revision and time to the key.`,
    ),
    {
      rule: "self.matches('^[^/]+/.+$')",
      message: `must be ${container}/key, such as backups/etcd/example`,
    },
    {
      rule: "!self.split('/')[0].contains(':')",
      message: `must begin with the ${container}, without a scheme such as s3://`,
    },
    {
      rule: "!('..' in self.split('/')) && !('.' in self.split('/'))",
      message: 'must not have . or .. as a part: addresses of objects resolve these',
    },
  );

const endpoint = (description: string) =>
  cel(text(2048, description), {
    rule: "self == '' || self.matches('^https?://[^/[:space:]]') || (!self.contains('://') && self.matches('^[^/[:space:]]'))",
    message: 'must be an address such as https://objects.example.com, with https:// or http://',
  });

const AMBIENT =
  "Empty: the cloud identity of the operator's pod, if its IDENTITY_NAMESPACES contains the namespace.";

/** The block of a store that is reached over the network. `more`: the fields that others lack. */
function objectStore<Type extends ObjectStoreType, More extends z.ZodRawShape>(type: Type, more: More) {
  const { description, container, secret, endpoint: server } = STORES[type];
  const ofSecret = `Secret with ${secret.keys}.${secret.orIdentity ? ` ${AMBIENT}` : ''}`;
  const named = { [secret.field]: secretName(ofSecret).optional() };
  return z
    .object({
      path: objectPath(container),
      ...(named as Record<(typeof STORES)[Type]['secret']['field'], z.ZodOptional<z.ZodString>>),
      endpoint: endpoint(server.description).optional(),
      caSecret: secretName(
        'Secret with the key ca.crt: authorities, as PEM, that may have signed the certificate of the endpoint. Empty: those that everybody trusts.',
      ).optional(),
      ...more,
    })
    .describe(description)
    .optional();
}

/** Fields of the block of one store that the others lack. */
const MORE = {
  S3: {
    forcePathStyle: z
      .boolean()
      .describe('true: the bucket is part of the path, not of the host name.')
      .optional(),
    region: cel(text(64, 'The region of the bucket. Empty: as the Secret says.'), {
      rule: "self.matches('^[A-Za-z0-9_.-]*$')",
      message: 'must be the name of a region, such as eu-central-1, without spaces',
    }).optional(),
  },
} as const satisfies { readonly [Type in ObjectStoreType]?: z.ZodRawShape };

type MoreOf<Type> = Type extends keyof typeof MORE ? (typeof MORE)[Type] : Record<never, never>;
type ObjectStores = {
  readonly [Type in ObjectStoreType as (typeof STORES)[Type]['block']]: ReturnType<
    typeof objectStore<Type, MoreOf<Type>>
  >;
};

const objectStores = Object.fromEntries(
  STORE_TYPES.filter(type => type !== 'File').map(type => [
    STORES[type].block,
    objectStore(type, { ...(MORE as Partial<Record<ObjectStoreType, z.ZodRawShape>>)[type] }),
  ]),
) as unknown as ObjectStores;

/** The blocks of a source, one for each storage type. */
export const storeBlocks = {
  ...objectStores,
  file: z
    .object({
      claim: text(253, 'A PersistentVolumeClaim of the same namespace.').min(1),
      path: cel(text(1024, 'Path of the file in the volume, such as backups/example.'), {
        rule: "size(self) > 0 && !self.startsWith('/') && !self.endsWith('/') && !('..' in self.split('/'))",
        message:
          'must be a path within the volume without leading slash and without .., such as backups/example',
      }),
    })
    .describe(STORES.File.description)
    .optional(),
} satisfies Readonly<Record<BlockName, z.ZodType>>;

/** A second store beside the first one, in a block of its own. */
export const secondStore = cel(
  z
    .object({
      storageType: z
        .enum(STORE_TYPES)
        .describe('The type of the second store; the block of the same name contains its settings.'),
      ...storeBlocks,
    })
    .describe(
      'A second store, such as another region or another provider, to which every backup is copied. What happens to it never makes a backup fail: see the condition Copied.',
    ),
  ...blockRules('storageType'),
);

/** For each type: the second store is another bucket, or has another account and another path. */
export const SECOND_STORE_RULES: readonly CelRule[] = STORE_TYPES.map(type => {
  const { block, container } = STORES[type];
  const first = `self.${block}`;
  const second = `self.secondStore.${block}`;
  const same = (field: string) =>
    `(has(${first}.${field}) ? ${first}.${field} : '') == (has(${second}.${field}) ? ${second}.${field} : '')`;
  const there = `has(self.secondStore) && self.storageType == '${type}' && self.secondStore.storageType == '${type}' && has(${first}) && has(${second})`;
  const rule =
    type === 'File'
      ? `!(${there} && ${first}.claim == ${second}.claim)`
      : `!(${there} && ${['endpoint', ...(type === 'S3' ? ['region'] : [])].map(same).join(' && ')} && ${first}.path.split('/')[0] == ${second}.path.split('/')[0] && (${same(STORES[type].secret.field)} || ${first}.path.startsWith(${second}.path) || ${second}.path.startsWith(${first}.path)))`;
  return {
    rule,
    message: `secondStore must be another ${container}${type === 'File' ? '' : ', or at another endpoint'}: what is in the same ${container} would be lost together`,
    fieldPath: '.secondStore',
  };
});

/** For each storage type: the block of the same name must be there. `field` is the field that holds the type. */
export function blockRules(field: string): readonly CelRule[] {
  return STORE_TYPES.map(type => {
    const { block, container } = STORES[type];
    const what = container === 'claim' ? 'claim and path' : 'path';
    return {
      rule: `!has(self.${field}) || self.${field} != '${type}' || has(self.${block})`,
      message: `${field} ${type} needs the block ${block} with ${what}`,
    };
  });
}
