/** `make demo`: from a bare machine to a live etcd cluster, and what to look at then. */
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { installOperator } from './operator.ts';
import { createProgress, formatDuration, type Report } from './progress.ts';
import { type Stack, up } from './stack/index.ts';

const SAMPLE = new URL('../deploy/samples/example-cluster.yaml', import.meta.url).pathname;
const WAIT_MS = 180_000;

interface Cluster {
  readonly status?: {
    readonly phase?: string;
    readonly ready?: string;
    readonly operation?: { readonly step?: string };
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly message: string;
    }[];
  };
}

async function readCluster(stack: Stack): Promise<Cluster> {
  return JSON.parse(await stack.kubectl('get', 'etcd', 'example', '-o', 'json')) as Cluster;
}

/** Polls until the cluster is available and all its members are ready, reportingRetries what the operator is at. */
async function awaitCluster(stack: Stack, report: Report): Promise<void> {
  const end = performance.now() + WAIT_MS;
  for (;;) {
    const { status } = await readCluster(stack);
    const holds = (type: string) =>
      status?.conditions?.some(c => c.type === type && c.status === 'True') ?? false;
    if (holds('Available') && holds('Healthy')) return;
    report(
      `${status?.ready ?? '0/3'} members ready, ${status?.operation?.step ?? status?.phase ?? 'waiting for the operator'}`,
    );
    if (performance.now() > end) {
      const why =
        status?.conditions?.map(({ type, message }) => `${type}: ${message}`).join('\n') ??
        'it has no status';
      throw new Error(`the sample is not available after ${formatDuration(WAIT_MS)}:\n${why}`);
    }
    await delay(200);
  }
}

/** Runs etcdctl in a pod of its own, as an application would reach the cluster. */
async function etcdctl(stack: Stack, ...args: string[]): Promise<string> {
  const image = 'gcr.io/etcd-development/etcd:v3.6.16';
  const name = `etcdctl-${process.pid}-${Math.floor(performance.now())}`;
  const command = ['--command', '--', 'etcdctl', '--endpoints', 'http://example-client:2379', ...args];
  const run = [
    'run',
    name,
    '--rm',
    '-i',
    '--restart=Never',
    '--quiet',
    `--image=${image}`,
    '--image-pull-policy=IfNotPresent',
  ];
  return (await stack.kubectl(...run, ...command)).trim();
}

async function main(): Promise<void> {
  const begun = performance.now();
  const progress = createProgress();
  try {
    const stack = await up({ name: 'demo', progress });
    await installOperator(stack, progress);
    const existed =
      (await stack.kubectl('get', 'etcd', 'example', '--ignore-not-found', '-o', 'name')) !== '';
    await stack.kubectl('apply', '-f', SAMPLE);
    const applied = performance.now();
    await progress.step('etcd cluster example', report => awaitCluster(stack, report));
    const seconds = existed ? 'it was there already' : formatDuration(performance.now() - applied);
    const proof = await progress.step('put and get through the client Service', async () => {
      const key = `demo/${new Date().toISOString()}`;
      await etcdctl(stack, 'put', key, 'hello');
      return { key, value: await etcdctl(stack, 'get', key, '--print-value-only') };
    });
    if (proof.value !== 'hello')
      throw new Error(`wrote hello to ${proof.key} and read ${JSON.stringify(proof.value)}`);
    const members = await stack.kubectl(
      'exec',
      'example-0',
      '--',
      'etcdctl',
      'member',
      'list',
      '-w',
      'table',
    );
    progress.close();
    process.stdout.write(
      conclusion(stack, { seconds, members, key: proof.key, all: formatDuration(performance.now() - begun) }),
    );
  } finally {
    progress.close();
  }
}

interface Proof {
  readonly seconds: string;
  readonly members: string;
  readonly key: string;
  readonly all: string;
}

function conclusion(stack: Stack, proof: Proof): string {
  return `
deploy/samples/example-cluster.yaml was applied:
${readFileSync(SAMPLE, 'utf8').replace(/^/gm, '    ').trimEnd()}
From kubectl apply to three ready members: ${proof.seconds} (the whole demo: ${proof.all}).
"hello" was written to ${proof.key} through the Service example-client, and read back.
${proof.members}
Look at it:
  eval "$(local/local env)"                     kubectl, etcdctl and temporal of this stack
  kubectl get etcd,pods,pvc -o wide
  kubectl describe etcd example                 conditions and events
  ${stack.temporalUi}/namespaces/etcd-operator/workflows
                                                every operation as a timeline, in a browser
  temporal workflow list
  W=$(kubectl get etcd example -o jsonpath='{.status.workflowID}')
  temporal workflow query -w $W --name plan     what comes next, and why
  temporal workflow signal -w $W --name pause -i '{"by":"me","reason":"trying it"}'
  temporal workflow signal -w $W --name resume

Break it:
  kubectl delete pod example-1                  it comes back on its volume
  local/local node stop 2                       pulls a node's plug; "node start 2" brings it back
  local/local temporal wipe                     Temporal forgets everything; the operator takes over again
  kubectl -n etcd-operator delete pod --all --force

End it:
  kubectl delete etcd example
  make down
`;
}

await main();
