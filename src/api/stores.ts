/**
 * Where backups lie: a row for each type of store, with the CoreOS operator's exact names. Whatever else is said of a type follows from
 * its row; how it is spoken to is in src/store/open.ts. Pure.
 */
interface StoreRow {
  /** The block of an EtcdBackup's or an EtcdRestore's specification. */
  readonly block: string;
  /** Of locations that are shown to users. */
  readonly scheme: string;
  readonly description: string;
  /** What holds the objects. */
  readonly container: 'bucket' | 'container' | 'claim';
  /** The field of the block that names the Secret with the credentials. Absent: there are none. */
  readonly secret?: {
    readonly field: string;
    readonly keys: string;
    /** Whether the identity of the operator's pod is used where none is named (docs/decisions/0053-tenants-and-addresses.md). */
    readonly orIdentity: boolean;
  };
  /** The field `endpoint` of the block. `usual` is asked where it is empty; absent: as the Secret says. */
  readonly endpoint?: { readonly description: string; readonly usual?: string };
  /** Domains of the cloud: everybody reaches the hosts below them, so there is nothing to find out about them. */
  readonly domains?: readonly string[];
  /**
   * The hosts at which the cloud answers, and to which what would serve any receiver is sent without asking. Absent: nothing
   * that is sent would (docs/decisions/0053-tenants-and-addresses.md).
   */
  readonly hosts?: RegExp;
}

export const STORES = {
  S3: {
    block: 's3',
    scheme: 's3',
    description: 'Amazon S3 or a server that speaks its protocol.',
    container: 'bucket',
    secret: {
      field: 'awsSecret',
      keys: 'the keys credentials and config, as files of the AWS tools, profile default',
      orIdentity: true,
    },
    endpoint: {
      description: 'Another server that speaks S3. Empty: AWS.',
      usual: 'https://s3.amazonaws.com',
    },
    domains: ['amazonaws.com', 'amazonaws.com.cn'],
  },
  ABS: {
    block: 'abs',
    scheme: 'abs',
    description: 'Azure Blob Storage.',
    container: 'container',
    secret: {
      field: 'absSecret',
      keys: 'the keys storage-account, storage-key and, when it is not the public one, cloud',
      orIdentity: true,
    },
    endpoint: { description: 'Another server that speaks the protocol. Empty: Azure.' },
    domains: [
      'core.windows.net',
      'core.chinacloudapi.cn',
      'core.usgovcloudapi.net',
      'core.cloudapi.de',
      'storage.azure.net',
    ],
    hosts:
      /\.blob\.(core\.(windows\.net|chinacloudapi\.cn|usgovcloudapi\.net|cloudapi\.de)|storage\.azure\.net)$/,
  },
  GCS: {
    block: 'gcs',
    scheme: 'gs',
    description: 'Google Cloud Storage.',
    container: 'bucket',
    secret: { field: 'gcpSecret', keys: 'the key access-token or credentials.json', orIdentity: true },
    endpoint: {
      description: 'Another server that speaks the protocol. Empty: Google.',
      usual: 'https://storage.googleapis.com',
    },
    domains: ['googleapis.com'],
    hosts: /(^|\.)googleapis\.com$/,
  },
  OSS: {
    block: 'oss',
    scheme: 'oss',
    description: 'Alibaba Cloud OSS.',
    container: 'bucket',
    secret: { field: 'ossSecret', keys: 'the keys accessKeyID and accessKeySecret', orIdentity: false },
    endpoint: {
      description: 'The server of the region. Empty: https://oss-cn-hangzhou.aliyuncs.com.',
      usual: 'https://oss-cn-hangzhou.aliyuncs.com',
    },
    domains: ['aliyuncs.com'],
    hosts: /(^|\.)(vpc100-)?oss-[a-z0-9-]+\.aliyuncs\.com$/,
  },
  File: {
    block: 'file',
    scheme: 'file',
    description: 'A file on a volume of this cluster.',
    container: 'claim',
  },
} as const satisfies Readonly<Record<string, StoreRow>>;

export type StoreType = keyof typeof STORES;
/** The types that are reached over the network, in a block of the same form. */
export type ObjectStoreType = Exclude<StoreType, 'File'>;
export type BlockName = (typeof STORES)[StoreType]['block'];

export const STORE_TYPES = Object.keys(STORES) as readonly StoreType[];
export const STORE_ROWS: readonly StoreRow[] = Object.values(STORES);

/** The row of a type; undefined for what an object that is older than its schema may hold. */
export function storeRow(type: string): (StoreRow & { readonly block: BlockName }) | undefined {
  return Object.hasOwn(STORES, type) ? STORES[type as StoreType] : undefined;
}
