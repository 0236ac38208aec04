/** What deploy/ says of the operator's Deployment, for a replica that runs outside of a pod. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { operatorSettings } from '../../../local/images/operator.ts';
import { root } from '../../run.ts';

interface Deployment {
  readonly spec: {
    readonly replicas: number;
    readonly template: {
      readonly spec: {
        readonly containers: readonly [
          { readonly env: readonly { readonly name: string; readonly value?: string }[] },
        ];
      };
    };
  };
}

/**
 * The number of replicas, and the environment without what a kubelet fills in.
 * @param heapMebibytes how large the heap of each thread may become, in place of what the Deployment says
 */
export function deployedSettings(heapMebibytes?: number): {
  replicas: number;
  environment: Record<string, string>;
} {
  const text = readFileSync(join(root, 'deploy/operator/deployment.yaml'), 'utf8');
  const { replicas, template } = (parse(text) as Deployment).spec;
  const given = template.spec.containers[0].env.flatMap(({ name, value }) =>
    value === undefined ? [] : [[name, value] as const],
  );
  // Of the image's own settings those that matter outside of a pod.
  const { MALLOC_ARENA_MAX = '', MALLOC_TRIM_THRESHOLD_ = '' } = operatorSettings.environment ?? {};
  const environment: Record<string, string> = {
    MALLOC_ARENA_MAX,
    MALLOC_TRIM_THRESHOLD_,
    ...Object.fromEntries(given),
  };
  if (heapMebibytes === undefined) return { replicas, environment };
  // The last of an option that is given twice holds.
  const NODE_OPTIONS = `${environment['NODE_OPTIONS'] ?? ''} --max-old-space-size=${heapMebibytes}`;
  return { replicas, environment: { ...environment, NODE_OPTIONS } };
}
