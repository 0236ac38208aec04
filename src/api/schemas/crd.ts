/** The CustomResourceDefinitions: names, columns and subresources around the schemas of the kinds. */
import { finding } from '../conditions/catalogue.ts';
import { etcdBackupSchema } from './etcd-backup.schema.ts';
import { etcdClusterSchema } from './etcd-cluster.schema.ts';
import { etcdRequestSchema } from './etcd-request.schema.ts';
import { etcdRestoreSchema } from './etcd-restore.schema.ts';
import {
  BACKUP_CLUSTER_FIELD,
  GROUP,
  type Kind,
  PLURALS,
  REQUEST_KIND,
  REQUEST_PLURAL,
  REQUEST_BACKUP_FIELD,
  REQUEST_CLUSTER_FIELD,
  RESTORE_CLUSTER_FIELD,
  VERSION,
} from '../names.ts';
import { type StructuralSchema, structuralSchema } from './structural.schema.ts';

/** A column of `kubectl get`. `priority` above 0: only with `-o wide`. */
type PrinterColumn = {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'date';
  readonly jsonPath: string;
  readonly description: string;
  readonly priority?: number;
};

/** The values of a {@link PrinterColumn} in the order of its fields. */
type Column = readonly [
  name: string,
  type: PrinterColumn['type'],
  jsonPath: string,
  description: string,
  priority?: number,
];

/** An apiextensions.k8s.io/v1 CustomResourceDefinition as plain JSON. */
export type CustomResourceDefinition = {
  readonly apiVersion: 'apiextensions.k8s.io/v1';
  readonly kind: 'CustomResourceDefinition';
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly scope: 'Namespaced';
    readonly preserveUnknownFields: false;
    readonly names: {
      readonly kind: Kind | typeof REQUEST_KIND;
      readonly plural: string;
      readonly [key: string]: unknown;
    };
    readonly versions: readonly [
      {
        readonly name: string;
        readonly served: true;
        readonly storage: true;
        readonly subresources: { readonly status: object; readonly scale?: object };
        readonly additionalPrinterColumns: readonly PrinterColumn[];
        readonly selectableFields?: readonly { readonly jsonPath: string }[];
        readonly schema: { readonly openAPIV3Schema: StructuralSchema };
      },
    ];
  };
};

const AGE: Column = ['Age', 'date', '.metadata.creationTimestamp', 'How long the object exists.'];

const CLUSTER_COLUMNS: readonly Column[] = [
  ['Ready', 'string', '.status.ready', 'Ready members of asked members.'],
  ['Size', 'integer', '.status.settings.size', 'Members asked for.'],
  ['Version', 'string', '.status.currentVersion', 'The version that runs.'],
  ['Phase', 'string', '.status.phase', 'Where the cluster is in its life.'],
  ['Operation', 'string', '.status.operation.type', 'What is being done.'],
  ['Attention', 'string', '.status.attention', 'What needs attention.'],
  ['Leader', 'string', '.status.leader', 'The member that leads.', 1],
  AGE,
];

const BACKUP_COLUMNS: readonly Column[] = [
  ['Storage', 'string', '.spec.storageType', 'Where backups are kept.'],
  ['Phase', 'string', '.status.phase', 'What the backup does.'],
  ['Succeeded', 'boolean', '.status.succeeded', 'Whether the last one did.'],
  ['Revision', 'integer', '.status.etcdRevision', 'Revision of the last one.'],
  ['Last', 'date', '.status.lastSuccessDate', 'When the last one succeeded.'],
  ['Next', 'string', '.status.nextRun', 'When the next one is due.', 1],
  AGE,
];

const RESTORE_COLUMNS: readonly Column[] = [
  ['Cluster', 'string', '.spec.etcdCluster.name', 'The cluster.'],
  ['Phase', 'string', '.status.phase', 'How far the restore is.'],
  ['Succeeded', 'boolean', '.status.succeeded', 'Whether it succeeded.'],
  ['Revision', 'integer', '.status.revision', 'The revision restored.'],
  ['By', 'string', '.spec.by', 'Who asks.', 1],
  AGE,
];

const REQUEST_COLUMNS: readonly Column[] = [
  ['Cluster', 'string', '.spec.clusterRef.name', 'The cluster.'],
  ['Backup', 'string', '.spec.backupRef.name', 'The EtcdBackup, instead of a cluster.', 1],
  ['Action', 'string', '.spec.action', 'What is asked for.'],
  ['By', 'string', '.spec.by', 'Who asks.'],
  ['Phase', 'string', '.status.phase', 'How far the request is.'],
  ['Message', 'string', '.status.message', 'What became of it.', 1],
  AGE,
];

const SCALE = {
  specReplicasPath: '.spec.size',
  statusReplicasPath: '.status.size',
  labelSelectorPath: '.status.selector',
};

/** The definitions, in the order of their files. */
export function customResourceDefinitions(): readonly CustomResourceDefinition[] {
  return [
    definition({
      kind: 'EtcdCluster',
      shortNames: ['etcd'],
      scale: SCALE,
      columns: CLUSTER_COLUMNS,
      schema: structuralSchema(etcdClusterSchema),
    }),
    definition({
      kind: 'EtcdBackup',
      columns: BACKUP_COLUMNS,
      selectable: [BACKUP_CLUSTER_FIELD],
      schema: structuralSchema(etcdBackupSchema),
    }),
    definition({
      kind: 'EtcdRestore',
      columns: RESTORE_COLUMNS,
      selectable: [RESTORE_CLUSTER_FIELD],
      schema: structuralSchema(etcdRestoreSchema),
    }),
    definition({
      kind: REQUEST_KIND,
      columns: REQUEST_COLUMNS,
      selectable: [REQUEST_CLUSTER_FIELD, REQUEST_BACKUP_FIELD],
      schema: structuralSchema(etcdRequestSchema),
    }),
  ];
}

type Definition = {
  readonly kind: Kind | typeof REQUEST_KIND;
  readonly shortNames?: readonly string[];
  readonly scale?: object;
  readonly columns: readonly Column[];
  /** The fields that lists may be selected by. */
  readonly selectable?: readonly string[];
  readonly schema: StructuralSchema;
};

function definition(input: Definition): CustomResourceDefinition {
  const { kind, shortNames, scale, columns, selectable, schema } = input;
  const plural = kind === REQUEST_KIND ? REQUEST_PLURAL : PLURALS[kind];
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      // What API servers assume; one that has the definition from the CoreOS operator's time keeps true, with which it refuses defaults.
      preserveUnknownFields: false,
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
          additionalPrinterColumns: columns.map(printerColumn),
          ...(selectable !== undefined && {
            selectableFields: selectable.map(field => ({ jsonPath: `.${field}` })),
          }),
          schema: { openAPIV3Schema: wholeObject(schema) },
        },
      ],
    },
  };
}

function printerColumn([name, type, jsonPath, description, priority]: Column): PrinterColumn {
  return { name, type, jsonPath, description, ...(priority !== undefined && { priority }) };
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
      status: { ...schema.properties?.['status'], default: UNOBSERVED },
    },
  };
}

/** A status that nobody has written yet: without it, tools such as kstatus take a new object for finished. */
const UNOBSERVED = {
  conditions: [{ ...finding('Ready', 'NotObservedYet'), lastTransitionTime: '1970-01-01T00:00:00Z' }],
};
