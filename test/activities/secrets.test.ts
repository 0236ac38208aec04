/** What must stay where it is: keys of Secrets and values of the environment never reach Temporal, a log or an event. */
import { expect, test } from 'vitest';
import { podFacts } from '../../src/activities/observe/pod-facts.ts';
import type { EtcdClusterSpec } from '../../src/api/schemas/types.ts';
import type { KubeObject, WritableObject } from '../../src/kube/port.ts';
import { coreosSecrets, staticTls, TestAuthority } from '../fakes/certificates.ts';
import { edit } from '../worlds/living-cluster.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

const FIRST = 'canary-of-the-first-environment';
const SECOND = 'canary-of-the-second-environment';

function withVariable(value: string): EtcdClusterSpec {
  return { size: 3, version: '3.6.16', pod: { etcdEnv: [{ name: 'PROXY_LOGIN', value }] } };
}

/** Writes down, as JSON, everything that activities take and give, say and report. */
function overhear(world: OperatorWorld): string[] {
  const heard: string[] = [];
  const hear = (...said: unknown[]): void => {
    for (const each of said) heard.push(each instanceof Error ? describeError(each) : JSON.stringify(each));
  };
  const [look, perform] = [world.look.bind(world), world.perform.bind(world)];
  const through = async <T>(call: Promise<T>): Promise<T> => {
    try {
      const result = await call;
      hear(result ?? null);
      return result;
    } catch (error) {
      hear(error);
      throw error;
    }
  };
  world.look = workflowState => through(look(workflowState));
  world.perform = step => {
    hear(step);
    return through(perform(step));
  };
  Object.assign(world.deps.logger, { info: hear, warn: hear });
  return heard;
}

function describeError(error: Error): string {
  return `${error.stack} ${String(error.cause)}`;
}

/** The long lines of the PEM texts of a Secret, and its base64: each is unmistakably part of it. */
function partsOf(secret: KubeObject): string[] {
  return Object.values(secret['data'] as Record<string, string>).flatMap(encoded => [
    encoded.slice(0, 80),
    ...Buffer.from(encoded, 'base64')
      .toString()
      .split('\n')
      .filter(line => line.length >= 60),
  ]);
}

function expectNowhere(world: OperatorWorld, heard: readonly string[], canaries: readonly string[]): void {
  expect(canaries.length).toBeGreaterThan(0);
  const { status } = world.cluster;
  const all = [...heard, JSON.stringify([status, world.events, world.passes])].join('\n');
  // That something was overheard at all.
  expect(heard.length).toBeGreaterThan(10);
  expect(all).toContain('recordIncarnation');
  expect(canaries.filter(canary => all.includes(canary))).toEqual([]);
}

test('keys and certificates of TLS.static pass through no workflow, log, event or status', async () => {
  const world = new OperatorWorld({ spec: { ...withVariable(FIRST), TLS: staticTls('example') } });
  const heard = overhear(world);
  await world.run();
  const secrets = Object.values(
    await coreosSecrets(await TestAuthority.create('company', world.now), 'example', 'shop'),
  );
  const kubectl = world.kube.as('kubectl');
  for (const secret of secrets) await kubectl.apply(secret as WritableObject);
  await world.run();
  expect(world.cluster.status.phase).toBe('Running');
  // One that no longer fits the others: faults are reported of it, too.
  const stranger = await coreosSecrets(await TestAuthority.create('other', world.now), 'example', 'shop');
  await kubectl.apply(stranger.server as WritableObject);
  await world.run();
  expectNowhere(world, heard, [...secrets, ...Object.values(stranger)].flatMap(partsOf));
});

test('keys that the operator makes for TLS.auto do not either', async () => {
  const world = new OperatorWorld({ spec: { ...withVariable(FIRST), TLS: { auto: {} } } });
  const heard = overhear(world);
  await world.run();
  const secrets = world.kube.all('Secret');
  expect(secrets.length).toBeGreaterThan(3);
  expectNowhere(world, heard, secrets.flatMap(partsOf));
});

test('values of etcdEnv do not either, also when they change and members are rolled', async () => {
  const world = new OperatorWorld({ spec: withVariable(FIRST) });
  const heard = overhear(world);
  await world.run();
  await edit(world, withVariable(SECOND));
  await world.run();
  const [pod] = world.kube.all('Pod');
  expect(JSON.stringify(pod)).toContain(SECOND);
  expect(heard.join('\n')).toContain('environment variable PROXY_LOGIN changed');
  expectNowhere(world, heard, [FIRST, SECOND]);
});

test('etcd quotes its environment in its log: those lines are not what a pod is said to have failed of', () => {
  const said = [
    `${'x'.repeat(1_700)}canary-whose-beginning-the-kubelet-cut-off"}`,
    '{"level":"info","msg":"recognized and used environment variable","variable-name":"ETCD_LOG_LEVEL","variable-value":"canary-one"}',
    '{"level":"warn","msg":"unrecognized environment variable","environment-variable":"ETCD_PROXY_LOGIN=canary-two"}',
    '{"level":"fatal","msg":"discovery failed","error":"no space left on device"}',
  ].join('\n');
  const pod: KubeObject = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'example-0', namespace: 'shop' },
    status: {
      phase: 'Running',
      containerStatuses: [
        {
          name: 'etcd',
          state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } },
          lastState: { terminated: { message: said } },
        },
      ],
    },
  };
  const { trouble } = podFacts(pod, 'uid');
  expect(trouble?.message).toContain('no space left on device');
  expect(trouble?.message).not.toContain('canary');
});
