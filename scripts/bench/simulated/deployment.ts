/** What deploy/ says of Deployments, for programs that run outside of a pod. */
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
          {
            readonly env?: readonly { readonly name: string; readonly value?: string }[];
            readonly resources: { readonly requests: { readonly cpu: string } };
          },
        ];
      };
    };
  };
}

/** Of deploy/. */
type Folder = 'operator' | 'temporal';

/**
 * The number of replicas, and the environment without what a kubelet fills in.
 * @param heapMebibytes how large the heap of each thread may become, in place of what the Deployment says
 */
export function deployedSettings(heapMebibytes?: number): {
  replicas: number;
  environment: Record<string, string>;
} {
  const { replicas, template } = deploymentOf('operator').spec;
  const { env = [] } = template.spec.containers[0];
  const given = env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value] as const]));
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

/** The CPU request of the first container of a Deployment of deploy/, in thousandths of a processor. */
export function cpuRequest(of: Folder): number {
  const { cpu } = deploymentOf(of).spec.template.spec.containers[0].resources.requests;
  const [, thousandths] = /^(\d+)m$/.exec(cpu) ?? [];
  if (thousandths === undefined)
    throw new Error(`deploy/${of}: its first container asks for ${cpu} of CPU; write it as 100m`);
  return Number(thousandths);
}

function deploymentOf(of: Folder): Deployment {
  return parse(readFileSync(join(root, 'deploy', of, 'deployment.yaml'), 'utf8')) as Deployment;
}
