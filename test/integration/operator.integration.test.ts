/**
 * The operator as a whole, with the rights that deploy/ gives it, against a real apiserver and a real Temporal
 * server. Nothing schedules or runs pods here: what is looked at is what the operator asks for.
 */
import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ALERTS } from '../../scripts/alerts/catalogue.ts';
import { root } from '../../scripts/run.ts';
import { clusterPermissions, ownNamespacePermissions } from '../deploy/permissions.ts';
import { SDK_METRICS } from '../../scripts/alerts/foreign-metrics.ts';
import { type ControlPlane, startControlPlane } from '../stack/control-plane.ts';
import { type OperatorProcess, startOperatorProcess } from '../stack/operator-process.ts';
import { poll } from '../stack/poll.ts';
import { startTemporal, type TemporalServer } from '../stack/temporal-server.ts';

const run = promisify(execFile);
const account = 'system:serviceaccount:etcd-operator:etcd-operator';

interface Printed {
  readonly stderr: string;
}

let plane: ControlPlane;
let temporal: TemporalServer;
let operatorKubeconfig: string;
const started: OperatorProcess[] = [];

async function kubectl(...args: string[]): Promise<string> {
  const { stdout } = await run(plane.kubectl, ['--kubeconfig', plane.kubeconfig, ...args], {
    maxBuffer: 1 << 26,
  });
  return stdout;
}

async function startOperator(
  podName: string,
  environment: Record<string, string> = {},
): Promise<OperatorProcess> {
  const operator = await startOperatorProcess({
    KUBECONFIG: operatorKubeconfig,
    TEMPORAL_ADDRESS: temporal.address,
    POD_NAME: podName,
    ...environment,
  });
  started.push(operator);
  return operator;
}

const untilReady = (operator: OperatorProcess): Promise<unknown> =>
  poll(async () => (await operator.health('/readyz'))?.status === 200, {
    timeoutMs: 90_000,
    otherwise: async () => `not ready: ${(await operator.health('/readyz'))?.text}; ${operator.output()}`,
  });

const podNames = async (cluster: string): Promise<string[]> =>
  (await kubectl('get', 'pods', '-l', `etcd_cluster=${cluster}`, '-o', 'name'))
    .split('\n')
    .filter(Boolean)
    .sort();

const threePods = (cluster: string): string[] => [0, 1, 2].map(serial => `pod/${cluster}-${serial}`);

async function applyCluster(name: string): Promise<void> {
  const file = join(root, 'deploy/samples/simple-etcd-cr.yaml');
  const manifest = JSON.parse(await kubectl('create', '--dry-run=client', '-f', file, '-o', 'json')) as {
    metadata: { name: string };
  };
  manifest.metadata.name = name;
  const applying = run(plane.kubectl, ['--kubeconfig', plane.kubeconfig, 'apply', '-f', '-']);
  applying.child.stdin?.end(JSON.stringify(manifest));
  await applying;
}

beforeAll(async () => {
  [plane, temporal] = await Promise.all([startControlPlane(), startTemporal({ searchAttributes: {} })]);
  await kubectl('apply', '--server-side', '-k', join(root, 'deploy'));
  await kubectl('wait', '--for=condition=Established', 'crd/etcdclusters.etcd.database.coreos.com');
  operatorKubeconfig = await plane.kubeconfigFor(account);
});

afterAll(async () => {
  for (const operator of started) operator.signal('SIGKILL');
  await Promise.all(started.map(operator => operator.ended));
  await Promise.all([plane?.stop(), temporal?.stop()]);
});

describe('the manifests on a real apiserver', () => {
  test('are what kubectl kustomize makes of the folders', async () => {
    const { stdout } = await run(plane.kubectl, ['kustomize', join(root, 'deploy/temporal')]);
    expect(stdout.match(/^kind: .*$/gm)).toEqual([
      'kind: Namespace',
      'kind: Service',
      'kind: Service',
      'kind: PersistentVolumeClaim',
      'kind: Deployment',
      'kind: NetworkPolicy',
    ]);
    await kubectl('apply', '--server-side', '-k', join(root, 'deploy/temporal'));
  });

  test.each(['etcd-operator', 'temporal'])('the pods of %s pass admission', async name => {
    const template = JSON.parse(
      await kubectl('get', 'deployment', name, '-n', name, '-o', 'jsonpath={.spec.template}'),
    ) as { metadata: object; spec: object };
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      ...template,
      metadata: { ...template.metadata, name: 'admitted' },
    };
    const creating = run(plane.kubectl, [
      ...[
        '--kubeconfig',
        plane.kubeconfig,
        'create',
        '-n',
        name,
        '--dry-run=server',
        '-o',
        'name',
        '-f',
        '-',
      ],
    ]);
    creating.child.stdin?.end(JSON.stringify(pod));
    const { stdout, stderr } = await creating;
    expect([stdout.trim(), stderr]).toEqual(['pod/admitted', '']);
  });

  const may = async (namespace: string, verb: string, resource: string): Promise<boolean> => {
    const args = ['auth', 'can-i', verb, resource, '-n', namespace, '--as', account];
    return (
      (await kubectl(...args).catch((error: { stdout?: string }) => error.stdout ?? '')).trim() === 'yes'
    );
  };

  /** By a review of the API server itself: kubectl's own question knows only kinds that the server has. */
  const isAllowed = async (resourceAttributes: object): Promise<boolean> => {
    const review = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user: account, groups: ['system:serviceaccounts', 'system:authenticated'], resourceAttributes },
    };
    const asking = run(plane.kubectl, ['--kubeconfig', plane.kubeconfig, 'create', '-o', 'json', '-f', '-']);
    asking.child.stdin?.end(JSON.stringify(review));
    return (JSON.parse((await asking).stdout) as { status: { allowed: boolean } }).status.allowed;
  };

  test('let the operator do what it needs', async () => {
    const denied: string[] = [];
    for (const [namespace, permissions] of [
      ['default', clusterPermissions],
      ['etcd-operator', ownNamespacePermissions],
    ] as const) {
      for (const { group, resource: path, verbs, names } of permissions) {
        const [resource, subresource] = path.split('/');
        for (const verb of verbs) {
          const name = names?.[0];
          const attributes = { namespace, verb, group, resource, subresource, name };
          if (!(await isAllowed(attributes))) denied.push(JSON.stringify(attributes));
        }
      }
    }
    expect(denied).toEqual([]);
  });

  test.each([
    ['default', 'delete', 'secrets'],
    ['default', 'delete', 'etcdclusters.etcd.database.coreos.com'],
    ['default', 'create', 'etcdbackups.etcd.database.coreos.com'],
    ['default', 'delete', 'persistentvolumes'],
    ['default', 'update', 'services'],
    ['default', 'delete', 'nodes'],
    ['default', 'delete', 'leases.coordination.k8s.io'],
    ['etcd-operator', 'delete', 'leases.coordination.k8s.io/etcd-operator-watcher'],
    ['default', 'watch', 'nodes'],
    ['default', 'escalate', 'clusterroles.rbac.authorization.k8s.io'],
  ])('in %s do not let it %s %s', async (namespace, verb, resource) => {
    expect(await may(namespace, verb, resource)).toBe(false);
  });
});

describe('the life of an operator', () => {
  let first: OperatorProcess;

  test('it registers what it needs in Temporal, becomes ready, and makes what a cluster needs', async () => {
    first = await startOperator('operator-a');
    await untilReady(first);
    await applyCluster('first');
    await poll(async () => (await podNames('first')).length === 3, { otherwise: first.output });
    expect(await podNames('first')).toEqual(threePods('first'));
    await poll(async () =>
      /resource_condition\{.*name="first",.*reason="Creating"\} 1/.test(await first.metrics()),
    );
    expect((await first.health('/healthz'))?.status).toBe(200);
  });

  test('kubectl understands the commands of runbooks', async () => {
    const shell = {
      ...process.env,
      PATH: `${dirname(plane.kubectl)}:${process.env['PATH']}`,
      KUBECONFIG: plane.kubeconfig,
    };
    const labels = { NS: 'default', NAME: 'first', KIND: 'EtcdCluster', CLUSTER: 'first', POD: 'first-0' };
    const commands = new Set(ALERTS.flatMap(({ runbook }) => runbook.look));
    const complaints = await Promise.all(
      [...commands].map(async command => {
        const options = { env: { ...shell, ...labels } };
        const { stderr } = await run('sh', ['-c', command], options).catch((error: Printed) => error);
        return `${command}\n${stderr}`;
      }),
    );
    // That there is no backup of this name, no kubelet to ask and no cert-manager is another matter.
    const misunderstood =
      /error parsing|unknown|unrecognized|invalid|syntax|resource type "(?!certificates)/i;
    expect(complaints.filter(text => misunderstood.test(text))).toEqual([]);
  });

  test('it is never refused a right', async () => {
    const metrics = await first.metrics();
    expect(metrics).toMatch(
      /kubernetes_call_duration_seconds_count\{method="POST",kind="Pod",code="201"\} 3/,
    );
    expect(metrics).not.toContain('code="403"');
    await poll(async () => (await kubectl('get', 'events')).includes('OperationStarted'));
  });

  test('a second one takes over when the first is killed', async () => {
    const second = await startOperator('operator-b');
    await untilReady(second);
    expect(await second.metrics()).toContain('etcd_operator_watcher_leader 0');
    first.signal('SIGKILL');
    await first.ended;
    await applyCluster('second');
    await poll(async () => (await podNames('second')).length === 3, { otherwise: second.output });
    expect(await podNames('first')).toEqual(threePods('first'));
    expect(await second.metrics()).toContain('etcd_operator_watcher_leader 1');
  });

  test('it continues after Temporal has lost its database', async () => {
    const survivor = started.at(-1);
    if (survivor === undefined) throw new Error('no operator was started');
    await temporal.kill();
    await poll(async () => (await survivor.health('/readyz'))?.text.includes('Temporal does not answer'));
    // By these an alert reports that Temporal is out of reach.
    await poll(
      async () => {
        const served = await survivor.sdkMetrics();
        return SDK_METRICS.every(name => served.includes(`\n${name}{`));
      },
      { otherwise: survivor.sdkMetrics },
    );
    expect((await survivor.health('/healthz'))?.status).toBe(200);
    await temporal.forget();
    await temporal.restart();
    await untilReady(survivor);
    await applyCluster('third');
    await poll(async () => (await podNames('third')).length === 3, {
      timeoutMs: 90_000,
      otherwise: survivor.output,
    });
    const workflows = (): Promise<string> =>
      temporal.cli('workflow', 'list', '-n', 'etcd-operator', '-q', "WorkflowType='etcdCluster'");
    const clusters = ['first', 'second', 'third'];
    await poll(
      async () => {
        const listed = await workflows();
        return clusters.every(cluster => listed.includes(`etcdcluster/default/${cluster}/`));
      },
      { otherwise: workflows },
    );
    expect([await podNames('first'), await podNames('second')]).toEqual([
      threePods('first'),
      threePods('second'),
    ]);
  });

  test('it ends in order when it is asked to, and gives the lease back', async () => {
    const survivor = started.at(-1);
    survivor?.signal('SIGTERM');
    expect(await survivor?.ended).toBe(0);
    const holder = 'jsonpath={.spec.holderIdentity}';
    expect(await kubectl('get', 'lease', 'etcd-operator-watcher', '-n', 'etcd-operator', '-o', holder)).toBe(
      '',
    );
  });

  test('it starts while Temporal is away, says so on the resources, and waits for it', async () => {
    await temporal.kill();
    const early = await startOperator('operator-c');
    await applyCluster('early');
    await poll(
      async () =>
        (
          await kubectl('get', 'etcdcluster', 'early', '-o', 'jsonpath={.status.conditions[*].type}')
        ).includes('TemporalUnavailable'),
      { timeoutMs: 60_000, otherwise: early.output },
    );
    expect((await early.health('/healthz'))?.status).toBe(200);
    expect((await early.health('/readyz'))?.text).toContain('waiting for Temporal');
    await poll(async () => /fleet_conditions\{.*"TemporalUnavailable"/.test(await early.metrics()));
    expect(await early.metrics()).toMatch(
      /resource_condition\{kind="EtcdCluster",namespace="default",name="early",type="TemporalUnavailable",reason="Unreachable"\} 1/,
    );
    await temporal.restart();
    await poll(async () => (await podNames('early')).length === 3, {
      timeoutMs: 90_000,
      otherwise: early.output,
    });
    await untilReady(early);
  });
});

test('an environment that cannot be used is explained, and ends the operator', async () => {
  const operator = await startOperator('operator-d', {
    TEMPORAL_ADDRESS: 'http://temporal:7233',
    ROLES: 'all',
  });
  expect(await operator.ended).toBe(2);
  expect(operator.output()).toBe(
    'invalid environment:\n' +
      '  TEMPORAL_ADDRESS is "http://temporal:7233": write host:port without a scheme, for example temporal-frontend.temporal.svc:7233\n' +
      '  ROLES is "all": set it to worker, watcher, or worker,watcher\n',
  );
});
