/** The schema of the value `config`: the operator's variables, with the bounds by which the operator itself reads them. */
import type { Variable } from '../../src/main/config/variable-types.ts';
import { VARIABLES } from '../../src/main/config/variables.ts';

/** What other values set, what the manifests rely on, and REDACT, which holds secrets: those come from `env` with a Secret. */
const elsewhere: readonly (keyof typeof VARIABLES)[] = [
  'TEMPORAL_ADDRESS',
  'TEMPORAL_NAMESPACE',
  'TEMPORAL_RETENTION_DAYS',
  'TEMPORAL_TLS',
  'TEMPORAL_API_KEY_PATH',
  'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
  'TEMPORAL_TLS_CLIENT_CERT_PATH',
  'TEMPORAL_TLS_CLIENT_KEY_PATH',
  'TEMPORAL_TLS_SERVER_NAME',
  'TEMPORAL_CODEC_KEYS',
  'TEMPORAL_CODEC_SERVER_PORT',
  'TEMPORAL_CODEC_SERVER_ORIGINS',
  'TEMPORAL_CODEC_SERVER_ENCODES',
  'TASK_QUEUE',
  'ROLES',
  'WATCH_NAMESPACE',
  'POD_NAME',
  'POD_NAMESPACE',
  'LEADER_ELECTION',
  'LEASE_NAME',
  'KUBECONFIG',
  'KUBERNETES_SERVICE_HOST',
  'KUBERNETES_SERVICE_PORT',
  'HEALTH_PORT',
  'METRICS_PORT',
  'TEMPORAL_METRICS_PORT',
  'REDACT',
];

export function configSchema() {
  const own = Object.entries<Variable>(VARIABLES).filter(
    ([name]) => !elsewhere.some(other => other === name),
  );
  return {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(
      own.map(([name, variable]) => [name, { description: variable.meaning, ...typeOf(variable) }]),
    ),
  };
}

/** `null` takes a value of a lower file away, as everywhere in Helm. */
function typeOf(variable: Variable): object {
  switch (variable.type) {
    case 'integer':
    case 'derivedInteger':
      return { type: ['integer', 'null'], minimum: variable.min, maximum: variable.max };
    case 'flag':
    case 'derivedFlag':
      return { type: ['boolean', 'null'] };
    case 'choice':
      return { enum: [...variable.choices, null] };
    case 'list':
      return { type: ['array', 'null'], items: { type: 'string', pattern: '^[^,]+$' } };
    case 'text':
    case 'optional':
      return { type: ['string', 'null'] };
  }
}
