/** The CustomResourceDefinitions: names, columns and subresources around the schemas of the three kinds. */
import { etcdBackupSchema } from './etcd-backup.schema.ts';
import { etcdClusterSchema } from './etcd-cluster.schema.ts';
import { etcdRestoreSchema } from './etcd-restore.schema.ts';
import { GROUP, type Kind, PLURALS, VERSION } from '../names.ts';
import { type StructuralSchema, structuralSchema } from './structural.schema.ts';

/** A column of `kubectl get`. `priority` above 0: only with `-o wide`. */
type PrinterColumn = {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'date';
  readonly jsonPath: string;
  readonly description: string;
  readonly priority?: number;
};

/** An apiextensions.k8s.io/v1 CustomResourceDefinition as plain JSON. */
export type CustomResourceDefinition = {
  readonly apiVersion: 'apiextensions.k8s.io/v1';
  readonly kind: 'CustomResourceDefinition';
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly scope: 'Namespaced';
    readonly names: { readonly kind: Kind; readonly plural: string; readonly [key: string]: unknown };
    readonly versions: readonly [
      {
        readonly name: string;
        readonly served: true;
        readonly storage: true;
        readonly subresources: { readonly status: object; readonly scale?: object };
        readonly additionalPrinterColumns: readonly PrinterColumn[];
        readonly schema: { readonly openAPIV3Schema: StructuralSchema };
      },
    ];
  };
};

const AGE: PrinterColumn = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
  description: 'How long the object exists.',
};

const CLUSTER_COLUMNS: readonly PrinterColumn[] = [
  {
    name: 'Ready',
    type: 'string',
    jsonPath: '.status.ready',
    description: 'Ready members of asked members.',
  },
  {
    name: 'Size',
    type: 'integer',
    jsonPath: '.status.settings.size',
    description: 'Members asked for.',
  },
  {
    name: 'Version',
    type: 'string',
    jsonPath: '.status.currentVersion',
    description: 'The version that runs.',
  },
  {
    name: 'Phase',
    type: 'string',
    jsonPath: '.status.phase',
    description: 'Where the cluster is in its life.',
  },
  {
    name: 'Operation',
    type: 'string',
    jsonPath: '.status.operation.type',
    description: 'What is being done.',
  },
  {
    name: 'Leader',
    type: 'string',
    jsonPath: '.status.leader',
    description: 'The member that leads.',
    priority: 1,
  },
  AGE,
];

const BACKUP_COLUMNS: readonly PrinterColumn[] = [
  { name: 'Storage', type: 'string', jsonPath: '.spec.storageType', description: 'Where backups are kept.' },
  { name: 'Phase', type: 'string', jsonPath: '.status.phase', description: 'What the backup does.' },
  {
    name: 'Succeeded',
    type: 'boolean',
    jsonPath: '.status.succeeded',
    description: 'Whether the last one did.',
  },
  {
    name: 'Revision',
    type: 'integer',
    jsonPath: '.status.etcdRevision',
    description: 'Revision of the last one.',
  },
  {
    name: 'Last',
    type: 'date',
    jsonPath: '.status.lastSuccessDate',
    description: 'When the last one succeeded.',
  },
  {
    name: 'Next',
    type: 'string',
    jsonPath: '.status.nextRun',
    description: 'When the next one is due.',
    priority: 1,
  },
  AGE,
];

const RESTORE_COLUMNS: readonly PrinterColumn[] = [
  { name: 'Cluster', type: 'string', jsonPath: '.spec.etcdCluster.name', description: 'The cluster.' },
  { name: 'Phase', type: 'string', jsonPath: '.status.phase', description: 'How far the restore is.' },
  { name: 'Succeeded', type: 'boolean', jsonPath: '.status.succeeded', description: 'Whether it succeeded.' },
  { name: 'Revision', type: 'integer', jsonPath: '.status.revision', description: 'The revision restored.' },
  AGE,
];

const SCALE = {
  specReplicasPath: '.spec.size',
  statusReplicasPath: '.status.size',
  labelSelectorPath: '.status.selector',
};

/** The three definitions, in the order of their files. */
export function customResourceDefinitions(): readonly CustomResourceDefinition[] {
  return [
    definition({
      kind: 'EtcdCluster',
      shortNames: ['etcd'],
      scale: SCALE,
      columns: CLUSTER_COLUMNS,
      schema: structuralSchema(etcdClusterSchema),
    }),
    definition({ kind: 'EtcdBackup', columns: BACKUP_COLUMNS, schema: structuralSchema(etcdBackupSchema) }),
    definition({
      kind: 'EtcdRestore',
      columns: RESTORE_COLUMNS,
      schema: structuralSchema(etcdRestoreSchema),
    }),
  ];
}

type Definition = {
  readonly kind: Kind;
  readonly shortNames?: readonly string[];
  readonly scale?: object;
  readonly columns: readonly PrinterColumn[];
  readonly schema: StructuralSchema;
};

function definition(input: Definition): CustomResourceDefinition {
  const { kind, shortNames, scale, columns, schema } = input;
  const plural = PLURALS[kind];
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        ...(shortNames === undefined ? {} : { shortNames }),
        categories: ['all'],
      },
      versions: [
        {
          name: VERSION,
          served: true,
          storage: true,
          subresources: { status: {}, ...(scale === undefined ? {} : { scale }) },
          additionalPrinterColumns: columns,
          schema: { openAPIV3Schema: wholeObject(schema) },
        },
      ],
    },
  };
}

/** The schema of a kind with the fields that every Kubernetes object has. */
function wholeObject(schema: StructuralSchema): StructuralSchema {
  return {
    ...schema,
    properties: {
      apiVersion: { type: 'string', description: `${GROUP}/${VERSION}` },
      kind: { type: 'string', description: 'The kind of this object.' },
      // The API server refuses anything said about metadata but rules for its name.
      metadata: { type: 'object' },
      ...schema.properties,
    },
  };
}
