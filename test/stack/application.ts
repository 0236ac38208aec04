/** An application of a cluster with TLS: it knows the client Service and what a Secret holds, and nothing else. */
import { DEFAULT_REPOSITORY } from '../../src/api/schemas/default-values.ts';
import { DEFAULT_VERSION } from '../../src/api/versions/table.ts';
import type { World } from './e2e.ts';
import { poll } from './poll.ts';

/** The Secret, and under which keys it has what. */
export interface Access {
  readonly secretName: string;
  readonly keys: { readonly ca: string; readonly cert: string; readonly key: string };
}

/** Runs etcdctl in a pod that mounts a Secret with these keys, against the client Service; gives its output. */
export async function runApplication(
  { kube, stack }: World,
  { namespace, name: cluster }: { readonly namespace: string; readonly name: string },
  { secretName, keys }: Access,
  ...command: readonly string[]
): Promise<string> {
  const name = `${cluster}-application`;
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { namespace, name },
    spec: {
      restartPolicy: 'Never',
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'application',
          image: `${DEFAULT_REPOSITORY}:v${DEFAULT_VERSION}`,
          command: ['/usr/local/bin/etcdctl'],
          args: [
            `--endpoints=https://${cluster}-client.${namespace}.svc:2379`,
            `--cacert=/tls/${keys.ca}`,
            `--cert=/tls/${keys.cert}`,
            `--key=/tls/${keys.key}`,
            // More than its 5 s: on a busy machine the Service's rules may reach the node after the pod has started.
            '--command-timeout=30s',
            '--dial-timeout=20s',
            ...command,
          ],
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
          volumeMounts: [{ name: 'tls', mountPath: '/tls', readOnly: true }],
        },
      ],
      volumes: [{ name: 'tls', secret: { secretName } }],
    },
  };
  await kube.create(pod);
  const done = await poll(
    async () => {
      const found = await kube.get({ ...pod, name, namespace });
      const { phase } = (found?.['status'] ?? {}) as { phase?: string };
      return phase === 'Succeeded' || phase === 'Failed' ? phase : undefined;
    },
    { timeoutMs: 60_000 },
  );
  const output = await stack.kubectl('-n', namespace, 'logs', name);
  await stack.kubectl('-n', namespace, 'delete', 'pod', name);
  return `${done}: ${output.trim()}`;
}
