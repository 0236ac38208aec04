/** Where backups lie: the object stores, with the CoreOS operator's exact names, and a volume. Shared by backup and restore. */
import * as z from 'zod';
import { type CelRule, cel, secretName, text } from './parts.schema.ts';

export const STORAGE_TYPES = ['S3', 'ABS', 'GCS', 'OSS', 'File'] as const;

const objectPath = (container: string) =>
  cel(
    text(
      1024,
      `Where the object lies: ${container}/key. A periodic backup appends its revision and time to the key.`,
    ),
    {
      rule: "self.matches('^[^/]+/.+$')",
      message: `must be ${container}/key, such as backups/etcd/example`,
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
  "Empty: the identity that the operator's pod has in its cloud, if its IDENTITY_NAMESPACES names the namespace.";

/** The blocks of a source, one for each storage type. */
export const storeBlocks = {
  s3: z
    .object({
      path: objectPath('bucket'),
      awsSecret: secretName(
        `Secret with the keys credentials and config, as files of the AWS tools, profile default. ${AMBIENT}`,
      ).optional(),
      endpoint: endpoint('Another server that speaks S3. Empty: AWS.').optional(),
      forcePathStyle: z
        .boolean()
        .describe('true: the bucket is part of the path, not of the host name.')
        .optional(),
      region: text(64, 'The region of the bucket. Empty: as the Secret says.').optional(),
    })
    .describe('Amazon S3 or a server that speaks its protocol.')
    .optional(),
  abs: z
    .object({
      path: objectPath('container'),
      absSecret: secretName(
        `Secret with the keys storage-account, storage-key and, when it is not the public one, cloud. ${AMBIENT}`,
      ).optional(),
      endpoint: endpoint('Another server that speaks the protocol. Empty: Azure.').optional(),
    })
    .describe('Azure Blob Storage.')
    .optional(),
  gcs: z
    .object({
      path: objectPath('bucket'),
      gcpSecret: secretName(`Secret with the key access-token or credentials.json. ${AMBIENT}`).optional(),
      endpoint: endpoint('Another server that speaks the protocol. Empty: Google.').optional(),
    })
    .describe('Google Cloud Storage.')
    .optional(),
  oss: z
    .object({
      path: objectPath('bucket'),
      ossSecret: secretName('Secret with the keys accessKeyID and accessKeySecret.').optional(),
      endpoint: endpoint('The server of the region. Empty: https://oss-cn-hangzhou.aliyuncs.com.').optional(),
    })
    .describe('Alibaba Cloud OSS.')
    .optional(),
  file: z
    .object({
      claim: text(253, 'A PersistentVolumeClaim of the same namespace.').min(1),
      path: cel(text(1024, 'Path of the file in the volume, such as backups/example.'), {
        rule: "size(self) > 0 && !self.startsWith('/') && !self.endsWith('/') && !('..' in self.split('/'))",
        message:
          'must be a path within the volume without leading slash and without .., such as backups/example',
      }),
    })
    .describe('A file on a volume of this cluster.')
    .optional(),
};

/** For each storage type: the block of the same name must be there. `field` is the field that holds the type. */
export function blockRules(field: string): readonly CelRule[] {
  return STORAGE_TYPES.map(type => {
    const block = type.toLowerCase();
    const what = type === 'File' ? 'claim and path' : 'path';
    return {
      rule: `!has(self.${field}) || self.${field} != '${type}' || has(self.${block})`,
      message: `${field} ${type} needs the block ${block} with ${what}`,
    };
  });
}
