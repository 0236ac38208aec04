import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { generateCrds } from '../../../scripts/generate-crds.ts';
import { customResourceDefinitions } from '../../../src/api/schemas/crd.ts';
import type { CelRule } from '../../../src/api/schemas/parts.schema.ts';
import { boundFaults, nodesOf, structuralFaults, valueFaults } from '../structural-rules.ts';

const root = new URL('../../../', import.meta.url);

const schemas = customResourceDefinitions().map(
  definition => [definition.spec.names.kind, definition.spec.versions[0].schema.openAPIV3Schema] as const,
);

describe.each(schemas)('the schema of %s', (_kind, schema) => {
  const nodes = nodesOf(schema);
  const rules = nodes.flatMap(([path, node]) =>
    ((node['x-kubernetes-validations'] ?? []) as CelRule[]).map(rule => [path, rule] as const),
  );

  test('is structural', () => {
    expect(nodes.length).toBeGreaterThan(30);
    expect(nodes.flatMap(([path, node]) => structuralFaults(path, node))).toEqual([]);
  });

  test('describes every field', () => {
    const silent = nodes.filter(
      ([path, node]) => path !== '.metadata' && !path.endsWith('{}') && !node.description,
    );
    expect(silent.map(([path]) => path).filter(path => !isItemOfDescribedList(path))).toEqual([]);
  });

  test('has bounds wherever a CEL rule could look', () => {
    expect(nodes.flatMap(([path, node]) => boundFaults(path, node))).toEqual([]);
  });

  test('has defaults that it accepts itself', () => {
    const defaults = nodes.filter(([, node]) => 'default' in node);
    expect(
      defaults.flatMap(([path, node]) => valueFaults(node, node.default).map(fault => `${path}: ${fault}`)),
    ).toEqual([]);
  });

  test('has CEL rules whose messages are one line and say what to write instead', () => {
    expect(rules.length).toBeGreaterThan(5);
    const advice = /\b(write|keep|remove|set|must|needs|such as|belong|is a)\b/;
    const poor = rules.filter(
      ([, rule]) => !advice.test(rule.message) || /\n/.test(rule.message + rule.rule),
    );
    expect(poor.map(([path, rule]) => `${path}: ${rule.message}`)).toEqual([]);
  });

  test('says nothing about metadata, which the API server forbids', () => {
    expect(schema.properties?.['metadata']).toEqual({ type: 'object' });
  });
});

/** An object in a list is described by the list and by its own fields. */
function isItemOfDescribedList(path: string): boolean {
  return path.endsWith('[]');
}

describe('deploy/crd', () => {
  const generated = generateCrds();

  test('holds exactly the generated files', () => {
    const files = readdirSync(new URL('deploy/crd/', root)).map(file => `deploy/crd/${file}`);
    expect(files.toSorted()).toEqual([...generated.keys()].toSorted());
  });

  test.each([...generated])('%s is as the schemas say: else run `npm run generate`', (path, content) => {
    expect(readFileSync(new URL(path, root), 'utf8')).toBe(content);
  });

  test('is the same when generated twice', () => {
    expect(generateCrds()).toEqual(generated);
  });
});

/** Field names that clients of the CoreOS operator send, letter by letter. */
const COREOS_FIELDS: Readonly<Record<string, readonly string[]>> = {
  EtcdCluster: [
    '.spec.size',
    '.spec.repository',
    '.spec.version',
    '.spec.paused',
    '.spec.pod.labels',
    '.spec.pod.nodeSelector',
    '.spec.pod.affinity',
    '.spec.pod.antiAffinity',
    '.spec.pod.resources',
    '.spec.pod.tolerations',
    '.spec.pod.etcdEnv',
    '.spec.pod.persistentVolumeClaimSpec',
    '.spec.pod.annotations',
    '.spec.pod.busyboxImage',
    '.spec.pod.securityContext',
    '.spec.pod.DNSTimeoutInSecond',
    '.spec.pod.ClusterDomain',
    '.spec.TLS.static.member.peerSecret',
    '.spec.TLS.static.member.serverSecret',
    '.spec.TLS.static.operatorSecret',
    '.status.phase',
    '.status.reason',
    '.status.controlPaused',
    '.status.conditions',
    '.status.size',
    '.status.serviceName',
    '.status.clientPort',
    '.status.members.ready',
    '.status.members.unready',
    '.status.currentVersion',
    '.status.targetVersion',
  ],
  EtcdBackup: [
    '.spec.etcdEndpoints',
    '.spec.storageType',
    '.spec.backupPolicy.timeoutInSecond',
    '.spec.backupPolicy.backupIntervalInSecond',
    '.spec.backupPolicy.maxBackups',
    '.spec.s3.path',
    '.spec.s3.awsSecret',
    '.spec.s3.endpoint',
    '.spec.s3.forcePathStyle',
    '.spec.abs.path',
    '.spec.abs.absSecret',
    '.spec.gcs.path',
    '.spec.gcs.gcpSecret',
    '.spec.oss.path',
    '.spec.oss.ossSecret',
    '.spec.oss.endpoint',
    '.spec.clientTLSSecret',
    '.status.succeeded',
    '.status.Reason',
    '.status.etcdVersion',
    '.status.etcdRevision',
    '.status.lastSuccessDate',
  ],
  EtcdRestore: [
    '.spec.etcdCluster.name',
    '.spec.backupStorageType',
    '.spec.s3.path',
    '.spec.abs.path',
    '.spec.gcs.path',
    '.spec.oss.path',
    '.status.succeeded',
    '.status.reason',
  ],
};

test.each(schemas)('%s has every field of the CoreOS operator by its exact name', (kind, schema) => {
  const paths = new Set(nodesOf(schema).map(([path]) => path));
  expect((COREOS_FIELDS[kind] ?? []).filter(path => !paths.has(path))).toEqual([]);
});

test('the rules above find faults: a schema that breaks each of them', () => {
  const broken = {
    type: 'object',
    description: 'Broken.',
    required: ['gone', 'defaulted'],
    properties: {
      typeless: { description: 'x' },
      either: { type: 'string', oneOf: [], maxLength: 1 },
      list: { type: 'array' },
      blob: { type: 'object' },
      both: { type: 'object', properties: {}, additionalProperties: { type: 'string' } },
      defaulted: { type: 'integer', default: 0, minimum: 1 },
    },
  };
  const nodes = nodesOf(broken);
  expect(nodes.flatMap(([path, node]) => structuralFaults(path, node))).toEqual([
    ': requires gone, which it does not have',
    ': requires defaulted, which has a default',
    '.typeless: has no type',
    '.either: has oneOf',
    '.list: does not say what is in the list',
    '.blob: keeps nothing of what is written into it',
    '.both: mixes map and object',
  ]);
  expect(nodes.flatMap(([path, node]) => boundFaults(path, node))).toEqual([
    '.list: list without maxItems',
    '.both: map without maxProperties',
    '.both{}: text without maxLength',
  ]);
  expect(valueFaults(broken.properties.defaulted, 0)).toEqual(['0 is below the minimum']);
});
