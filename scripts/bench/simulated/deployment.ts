/** What deploy/ says of the operator, for processes that run outside of a pod. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { operatorSettings } from '../../../local/images/operator.ts';
import { root } from '../../run.ts';

/** The environment of the operator, without what a kubelet fills in, and of the image's own settings those that matter outside of a pod. */
export function deployedEnvironment(): Record<string, string> {
  const file = join(root, 'deploy/operator/deployment.yaml');
  const { spec } = parse(readFileSync(file, 'utf8')) as {
    spec: { template: { spec: { containers: [{ env?: { name: string; value?: string }[] }] } } };
  };
  const { env = [] } = spec.template.spec.containers[0];
  const given = env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value] as const]));
  const { MALLOC_ARENA_MAX = '', MALLOC_TRIM_THRESHOLD_ = '' } = operatorSettings.environment ?? {};
  return { MALLOC_ARENA_MAX, MALLOC_TRIM_THRESHOLD_, ...Object.fromEntries(given) };
}
