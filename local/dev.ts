/** `make dev`: the operator as a process of this host against the local stack, started again on every change. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { OPERATOR_NAMESPACE } from './operator.ts';
import { createProgress } from './progress.ts';
import { up } from './stack/index.ts';

const progress = createProgress();
const stack = await up({ name: 'demo', operatorImage: false, progress });
await progress.step('custom resources', () =>
  stack.kubectl('apply', '--server-side', '-k', new URL('../deploy/crd', import.meta.url).pathname),
);
// The replicas in the cluster would compete with the one of this host for work of older code.
await progress.step('operator in the cluster, if there is one, to zero replicas', () =>
  stack
    .kubectl('-n', OPERATOR_NAMESPACE, 'scale', 'deployment/etcd-operator', '--replicas=0')
    .catch(() => ''),
);
progress.close();
const entry = new URL('../src/main/operator.ts', import.meta.url).pathname;
const operator = spawn(process.execPath, ['--watch', '--watch-preserve-output', entry], {
  stdio: 'inherit',
  env: {
    ...process.env,
    KUBECONFIG: stack.kubeconfig,
    TEMPORAL_ADDRESS: stack.temporalAddress,
    LEADER_ELECTION: 'false',
  },
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => operator.kill(signal));
const [code] = (await once(operator, 'exit')) as [number | null];
process.exitCode = code ?? 1;
