import { describe, expect, test } from 'vitest';
import { type Config, parseConfig } from '../../../src/main/config/config.ts';
import { ConfigError, type Environment } from '../../../src/main/config/environment.ts';
import { VARIABLES } from '../../../src/main/config/variables.ts';

/** What is wrong with an environment. */
function problems(environment: Environment): readonly string[] {
  try {
    parseConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

test('an empty environment gives the defaults of the deployment', () => {
  expect(parseConfig({ POD_NAME: 'etcd-operator-0' })).toEqual({
    temporal: {
      address: 'temporal-frontend.temporal.svc:7233',
      namespace: 'etcd-operator',
      retentionDays: 30,
      tls: undefined,
      apiKeyFile: undefined,
    },
    codec: undefined,
    taskQueue: 'etcd-operator',
    roles: { worker: true, watcher: true },
    watchNamespaces: undefined,
    pod: { name: 'etcd-operator-0', namespace: 'etcd-operator' },
    image: undefined,
    identityNamespaces: [],
    allowed: { endpoints: [], stores: [], credentials: [] },
    leaderElection: true,
    leaseName: 'etcd-operator-watcher',
    kubeconfig: undefined,
    inCluster: undefined,
    ports: { health: 8080, metrics: 9464, temporalMetrics: 9465 },
    metricsResources: 1000,
    backupJitterSeconds: 0,
    logLevel: 'info',
    redact: [],
    worker: {
      maxCachedWorkflows: 150,
      maxConcurrentActivities: 100,
      maxConcurrentTransfers: 20,
      maxBackupsPerStore: 8,
      maxBackupsPerNode: 8,
      maxConcurrentWorkflowTasks: 8,
    },
  } satisfies Config);
});

test('what is read is what is documented', () => {
  const read = new Set<string>();
  const environment = new Proxy<Environment>({}, { get: (_, name) => void read.add(String(name)) });
  parseConfig(environment);
  expect([...read].sort()).toEqual(Object.keys(VARIABLES).sort());
});

test('empty variables are absent ones', () => {
  const names = [
    'TEMPORAL_ADDRESS',
    'TEMPORAL_TLS',
    'ROLES',
    'WATCH_NAMESPACE',
    'HEALTH_PORT',
    'LOG_LEVEL',
    'REDACT',
  ];
  const empty = Object.fromEntries(names.map(name => [name, ' ']));
  expect(parseConfig({ ...empty, POD_NAME: 'a' })).toEqual(parseConfig({ POD_NAME: 'a' }));
});

const namespaces = (count: number): string =>
  Array.from({ length: count }, (_, index) => `team-${index}`).join(',');

const accepted: readonly [
  name: string,
  environment: Environment,
  pick: (config: Config) => unknown,
  value: unknown,
][] = [
  ['an address', { TEMPORAL_ADDRESS: '10.0.0.1:7233' }, c => c.temporal.address, '10.0.0.1:7233'],
  ['an IPv6 address', { TEMPORAL_ADDRESS: '[fd00::1]:7233' }, c => c.temporal.address, '[fd00::1]:7233'],
  ['only the worker', { ROLES: 'worker' }, c => c.roles, { worker: true, watcher: false }],
  ['only the watcher', { ROLES: ' watcher ' }, c => c.roles, { worker: false, watcher: true }],
  ['both roles', { ROLES: 'watcher, worker' }, c => c.roles, { worker: true, watcher: true }],
  ['one namespace', { WATCH_NAMESPACE: 'prod' }, c => c.watchNamespaces, ['prod']],
  [
    'namespaces, each once and in any order',
    { WATCH_NAMESPACE: 'web, shop,web ,' },
    c => c.watchNamespaces,
    ['shop', 'web'],
  ],
  ['fifty namespaces', { WATCH_NAMESPACE: namespaces(50) }, c => c.watchNamespaces?.length, 50],
  ['a level in capitals', { LOG_LEVEL: 'DEBUG' }, c => c.logLevel, 'debug'],
  ['no election', { LEADER_ELECTION: 'False' }, c => c.leaderElection, false],
  ['a port', { HEALTH_PORT: '18080' }, c => c.ports.health, 18080],
  ['texts to redact', { REDACT: 'alpha123, beta456 ,' }, c => c.redact, ['alpha123', 'beta456']],
  ['no cache', { MAX_CACHED_WORKFLOWS: '0' }, c => c.worker.maxCachedWorkflows, 0],
  [
    'a pod in a cluster',
    { KUBERNETES_SERVICE_HOST: '10.96.0.1' },
    c => c.inCluster,
    { host: '10.96.0.1', port: '443' },
  ],
  [
    'keys for payloads',
    { TEMPORAL_CODEC_KEYS: '/etc/temporal-codec' },
    c => c.codec,
    { keysFolder: '/etc/temporal-codec', server: undefined },
  ],
  [
    'a codec server',
    {
      TEMPORAL_CODEC_KEYS: '/keys',
      TEMPORAL_CODEC_SERVER_PORT: '8081',
      TEMPORAL_CODEC_SERVER_ORIGINS: 'https://temporal.example.org, http://localhost:8233',
      TEMPORAL_CODEC_SERVER_ENCODES: 'true',
    },
    c => c.codec?.server,
    { port: 8081, origins: ['https://temporal.example.org', 'http://localhost:8233'], encodes: true },
  ],
  [
    'TLS without any file',
    { TEMPORAL_TLS: 'true' },
    c => c.temporal.tls,
    { caFile: undefined, certFile: undefined, keyFile: undefined, serverName: undefined },
  ],
  [
    'a CA file means TLS',
    { TEMPORAL_TLS_SERVER_CA_CERT_PATH: '/tls/ca.crt', TEMPORAL_TLS_SERVER_NAME: 'temporal' },
    c => c.temporal.tls,
    { caFile: '/tls/ca.crt', certFile: undefined, keyFile: undefined, serverName: 'temporal' },
  ],
  [
    'an API key means TLS',
    { TEMPORAL_API_KEY_PATH: '/etc/temporal-api-key/key', TEMPORAL_NAMESPACE: 'etcd.a1b2c' },
    c => [c.temporal.apiKeyFile, c.temporal.tls, c.temporal.namespace],
    [
      '/etc/temporal-api-key/key',
      { caFile: undefined, certFile: undefined, keyFile: undefined, serverName: undefined },
      'etcd.a1b2c',
    ],
  ],
  ...['localhost:7233', '127.0.0.2:7233', '[::1]:7233'].map((address): (typeof accepted)[number] => [
    `an API key in plain text to ${address}`,
    { TEMPORAL_API_KEY_PATH: '/key', TEMPORAL_TLS: 'false', TEMPORAL_ADDRESS: address },
    c => [c.temporal.apiKeyFile, c.temporal.tls],
    ['/key', undefined],
  ]),
  [
    'TLS switched off although files are given',
    { TEMPORAL_TLS_SERVER_CA_CERT_PATH: '/tls/ca.crt', TEMPORAL_TLS: 'false' },
    c => c.temporal.tls,
    undefined,
  ],
];

const refused: readonly [environment: Environment, ...problems: string[]][] = [
  [
    { TEMPORAL_ADDRESS: 'http://temporal:7233' },
    'TEMPORAL_ADDRESS is "http://temporal:7233": write host:port without a scheme, for example temporal-frontend.temporal.svc:7233',
  ],
  [
    { TEMPORAL_ADDRESS: 'temporal' },
    'TEMPORAL_ADDRESS is "temporal": write host:port without a scheme, for example temporal-frontend.temporal.svc:7233',
  ],
  // Several frontends have one name.
  [
    { TEMPORAL_ADDRESS: 'one:7233,two:7233' },
    'TEMPORAL_ADDRESS is "one:7233,two:7233": write host:port without a scheme, for example temporal-frontend.temporal.svc:7233',
  ],
  [
    { TEMPORAL_NAMESPACE: 'a b' },
    'TEMPORAL_NAMESPACE is "a b": write letters, digits, dots, dashes and underscores, for example etcd-operator',
  ],
  [
    { TEMPORAL_RETENTION_DAYS: '3' },
    'TEMPORAL_RETENTION_DAYS is "3": write a whole number from 7 to 3650, for example 30',
  ],
  [{ TEMPORAL_TLS: 'yes' }, 'TEMPORAL_TLS is "yes": write true or false'],
  [
    { TEMPORAL_TLS_CLIENT_CERT_PATH: '/tls/tls.crt' },
    'TEMPORAL_TLS_CLIENT_KEY_PATH is "": set it to the path of the key for TEMPORAL_TLS_CLIENT_CERT_PATH',
  ],
  [
    { TEMPORAL_TLS_CLIENT_KEY_PATH: 'tls.key' },
    'TEMPORAL_TLS_CLIENT_KEY_PATH is "tls.key": write the absolute path of a file',
    'TEMPORAL_TLS_CLIENT_CERT_PATH is "": set it to the path of the certificate for TEMPORAL_TLS_CLIENT_KEY_PATH',
  ],
  ...['temporal.example.org:7233', '10.0.0.1:7233', 'localhost.example.org:7233'].map(
    (address): [Environment, string] => [
      { TEMPORAL_API_KEY_PATH: '/key', TEMPORAL_TLS: 'false', TEMPORAL_ADDRESS: address },
      'TEMPORAL_TLS is "false": write true or leave it out, because the key of TEMPORAL_API_KEY_PATH would be sent in plain text to another host',
    ],
  ),
  // Somebody who writes the key itself there does not find it in the log.
  [
    { TEMPORAL_API_KEY_PATH: 'eyJhbGciOiJub25lIn0.e30.canary' },
    'TEMPORAL_API_KEY_PATH is not usable: write the absolute path of a file',
  ],
  [{ TEMPORAL_CODEC_KEYS: 'keys' }, 'TEMPORAL_CODEC_KEYS is "keys": write the absolute path of a folder'],
  [
    { TEMPORAL_CODEC_SERVER_PORT: '8081' },
    'TEMPORAL_CODEC_SERVER_PORT is "8081": set TEMPORAL_CODEC_KEYS as well, or leave it out',
  ],
  [
    { TEMPORAL_CODEC_KEYS: '/keys', TEMPORAL_CODEC_SERVER_PORT: '9465' },
    'TEMPORAL_CODEC_SERVER_PORT is "9465": set it to a port that no other variable names',
  ],
  ...['*', 'temporal.example.org', 'https://temporal.example.org/', 'https://temporal.example.org/ui'].map(
    (origin): [Environment, string] => [
      { TEMPORAL_CODEC_SERVER_ORIGINS: origin },
      `TEMPORAL_CODEC_SERVER_ORIGINS is "${origin}": write origins, such as https://temporal.example.org`,
    ],
  ),
  [{ ROLES: 'worker,watch' }, 'ROLES is "worker,watch": set it to worker, watcher, or worker,watcher'],
  ...['*', ',', 'shop,Web', 'shop web', `shop,${'x'.repeat(64)}`].map((value): [Environment, string] => [
    { WATCH_NAMESPACE: value },
    `WATCH_NAMESPACE is "${value}": write namespaces with commas between them, such as shop,web (each of lower-case letters, digits and dashes, at most 63), or leave it out for all`,
  ]),
  [
    { WATCH_NAMESPACE: namespaces(51) },
    `WATCH_NAMESPACE is "${namespaces(51)}": write at most 50 namespaces instead of 51, or leave it out to watch all`,
  ],
  [{ HEALTH_PORT: '80a' }, 'HEALTH_PORT is "80a": write a whole number from 1 to 65535, for example 8080'],
  [
    { HEALTH_PORT: '70000' },
    'HEALTH_PORT is "70000": write a whole number from 1 to 65535, for example 8080',
  ],
  [{ HEALTH_PORT: '-1' }, 'HEALTH_PORT is "-1": write a whole number from 1 to 65535, for example 8080'],
  [{ METRICS_PORT: '8080' }, 'METRICS_PORT is "8080": set it to a port other than HEALTH_PORT'],
  [
    { TEMPORAL_METRICS_PORT: '9464' },
    'TEMPORAL_METRICS_PORT is "9464": set it to a port other than HEALTH_PORT and METRICS_PORT',
  ],
  [{ LOG_LEVEL: 'verbose' }, 'LOG_LEVEL is "verbose": write one of debug, info, warn, error'],
  [
    { MAX_CONCURRENT_ACTIVITIES: '0' },
    'MAX_CONCURRENT_ACTIVITIES is "0": write a whole number from 1 to 10000, for example 100',
  ],
];

describe('accepted', () => {
  test.each(accepted)('%s', (_, environment, pick, value) => {
    expect(pick(parseConfig({ POD_NAME: 'a', ...environment }))).toEqual(value);
  });
});

describe('refused with the variable, its value and what to write', () => {
  test.each(refused)('%o', (environment, ...expected) => {
    expect(problems({ POD_NAME: 'a', ...environment })).toEqual(expected);
  });

  test('everything that is wrong is said at once', () => {
    expect(problems({ POD_NAME: 'a', LOG_LEVEL: 'x', ROLES: 'y', HEALTH_PORT: 'z' })).toHaveLength(3);
    expect(() => parseConfig({ POD_NAME: 'a', LOG_LEVEL: 'x', ROLES: 'y' })).toThrow(
      'invalid environment:\n  ROLES is "y"',
    );
  });
});
