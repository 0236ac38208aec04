/** values.schema.json of the chart, by which Helm refuses bad values. Descriptions come from values.yaml. */
import { configSchema } from './config-schema.ts';
import { type DescribedValue, describedValues } from './values.ts';

interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly [keyword: string]: unknown;
}

const flag: Schema = { type: 'boolean' };
const text: Schema = { type: 'string' };
const matching = (pattern: string): Schema => ({ type: 'string', pattern });
const integer = (minimum: number, maximum: number): Schema => ({ type: 'integer', minimum, maximum });
const listOf = (items: Schema): Schema => ({ type: 'array', items });
const mapOf = (values: Schema): Schema => ({ type: 'object', additionalProperties: values });
/** Anything that Kubernetes takes there: it says itself what is wrong. */
const objects = listOf({ type: 'object' });
const object: Schema = { type: 'object' };

const label = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?';
const namespace = matching(`^${label}$`);
const optionalName = matching('^([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?)?$');
const fileName = matching('^([A-Za-z0-9_-][A-Za-z0-9._-]*)?$');
const temporalName = '[A-Za-z0-9][A-Za-z0-9_.-]{0,199}';
const pullPolicy: Schema = { enum: ['Always', 'IfNotPresent', 'Never'] };
/** As in src/main/config/variables.ts, or empty. */
const hostAndPort = '^(([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\\[[0-9A-Fa-f:.]+\\]):[1-9][0-9]{0,4})?$';
const quantity = matching('^[0-9]+(\\.[0-9]+)?([EPTGMk]i?)?$');
const interval = matching('^[1-9][0-9]*(ms|s|m)$');
const reference = '[a-z0-9]+([._-]+[a-z0-9]+)*';

/** An object of these properties, no other, and all of them: who sets one to `null` takes it away, and the templates need it. */
function closed(properties: Readonly<Record<string, Schema>>): Schema {
  const required = Object.keys(properties).filter(name => properties[name]?.type?.includes('null') !== true);
  return { type: 'object', additionalProperties: false, required, properties };
}

const values = closed({
  temporal: closed({
    address: matching(hostAndPort),
    bundled: flag,
    namespace: matching(`^${temporalName}$`),
    retentionDays: { type: ['integer', 'null'], minimum: 7, maximum: 3650 },
    taskQueue: matching(`^(${temporalName})?$`),
    apiKey: closed({ secretName: optionalName, key: matching('^[A-Za-z0-9_-][A-Za-z0-9._-]*$') }),
    tls: closed({
      enabled: flag,
      secretName: optionalName,
      caKey: fileName,
      certKey: fileName,
      keyKey: fileName,
      serverName: text,
    }),
    codec: closed({
      secretName: optionalName,
      server: closed({ enabled: flag, origins: listOf(matching('^https?://[^/,*\\s]+$')), encodes: flag }),
    }),
  }),
  bundledTemporal: closed({
    image: { type: 'string', minLength: 1 },
    pullPolicy,
    storage: quantity,
    storageClassName: optionalName,
  }),
  watchNamespace: matching(`^(${label})?$`),
  // As many as src/main/config/config.ts takes.
  watchNamespaces: { ...listOf(namespace), maxItems: 50 },
  replicas: integer(1, 100),
  image: closed({
    registry: matching('^[^\\s@]*$'),
    repository: matching(`^([A-Za-z0-9.-]+(:[0-9]+)?/)?${reference}(/${reference})*$`),
    tag: matching('^([A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?$'),
    digest: matching('^(sha256:[0-9a-f]{64})?$'),
    pullPolicy,
  }),
  imagePullSecrets: listOf(closed({ name: { type: 'string', minLength: 1 } })),
  crds: closed({ install: flag, keep: flag }),
  users: closed({ install: flag, keep: flag, fillBy: flag }),
  operator: closed({ install: flag }),
  rbac: closed({ create: flag, clusterRole: flag }),
  flowControl: closed({ enabled: flag, shares: integer(1, 200) }),
  serviceAccount: closed({ create: flag, name: optionalName, annotations: mapOf(text) }),
  config: configSchema(),
  nodeOptions: text,
  env: listOf({
    type: 'object',
    required: ['name'],
    properties: { name: { type: 'string', minLength: 1 }, value: text },
  }),
  volumes: objects,
  volumeMounts: objects,
  resources: object,
  nodeSelector: mapOf(text),
  tolerations: objects,
  affinity: object,
  priorityClassName: optionalName,
  podAnnotations: mapOf(text),
  podLabels: mapOf(text),
  podDisruptionBudget: closed({
    enabled: flag,
    maxUnavailable: { oneOf: [integer(1, 100), matching('^[1-9][0-9]?%$')] },
  }),
  networkPolicy: closed({ enabled: flag, metricsFrom: objects, helperNamespaces: listOf(namespace) }),
  metrics: closed({
    podMonitor: closed({ enabled: flag, labels: mapOf(text), interval }),
    memberPodMonitor: closed({ enabled: flag, labels: mapOf(text), interval }),
  }),
  rules: closed({ enabled: flag, labels: mapOf(text), runbookUrl: matching('^[A-Za-z][^\\s#"\']*$') }),
  dashboards: closed({ enabled: flag, labels: mapOf(text), annotations: mapOf(text) }),
  fullnameOverride: matching('^([a-z]([a-z0-9-]{0,43}[a-z0-9])?)?$'),
});

/** The schema. @throws Error when values.yaml has a value that the schema does not, or the other way round */
export function valuesSchema(described: readonly DescribedValue[] = describedValues()): Schema {
  const schema = withDescriptions(values, described, '');
  // Helm gives these to every chart that is part of another one; this one has no use for them.
  const global = { type: 'object', description: 'Values of a chart that this one is part of. Not used.' };
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the chart etcd-operator',
    ...schema,
    properties: { ...schema.properties, global },
  };
}

function withDescriptions(schema: Schema, described: readonly DescribedValue[], prefix: string): Schema {
  const { properties = {} } = schema;
  const known = new Map(described.map(value => [value.path.slice(prefix.length), value]));
  const missing = [...known.keys()].filter(name => !(name in properties));
  if (missing.length > 0) throw new Error(`scripts/chart/schema.ts has no ${prefix}${missing.join(', ')}`);
  const entries = Object.entries(properties).map(([name, property]): [string, Schema] => {
    const value = known.get(name);
    if (value === undefined) throw new Error(`values.yaml has no ${prefix}${name}`);
    const whole =
      value.parts.length === 0 ? property : withDescriptions(property, value.parts, `${value.path}.`);
    return [name, value.description === '' ? whole : { description: value.description, ...whole }];
  });
  return { ...schema, properties: Object.fromEntries(entries) };
}
