import { expect, test } from 'vitest';
import { reportedConditions } from '../../src/api/conditions/reported.ts';
import type { KnownConditions } from '../../src/telemetry/condition-metrics.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';

const resource = (kind: string, name: string, ...pairs: readonly [string, string][]): KnownConditions => ({
  namespace: 'prod',
  name,
  conditions: reportedConditions(
    kind,
    pairs.map(([type, reason]) => ({ type, reason })),
  ),
});

async function lines(known: readonly KnownConditions[], mostResources?: number): Promise<string[]> {
  const metrics = createMetrics(mostResources === undefined ? {} : { mostResources });
  metrics.knownConditions(() => known);
  return (await metrics.text())
    .split('\n')
    .filter(line => /^etcd_operator_(fleet|resource)_condition/.test(line))
    .map(line => line.slice('etcd_operator_'.length));
}

const stopped = resource('EtcdCluster', 'b', ['Paused', 'PausedBySpec'], ['QuorumAtRisk', 'QuorumLost']);
const waiting = resource('EtcdRestore', 'r', ['Accepted', 'Waiting']);

test('conditions are reported with the resource that has them, and counted', async () => {
  expect(await lines([stopped, waiting, resource('EtcdCluster', 'c', ['Paused', 'PausedBySpec'])])).toEqual([
    'fleet_conditions{kind="EtcdCluster",type="QuorumAtRisk",reason="QuorumLost"} 1',
    'fleet_conditions{kind="EtcdCluster",type="Paused",reason="PausedBySpec"} 2',
    'fleet_conditions{kind="EtcdRestore",type="Accepted",reason="Waiting"} 1',
    'resource_condition{kind="EtcdCluster",namespace="prod",name="b",type="QuorumAtRisk",reason="QuorumLost"} 1',
    'resource_condition{kind="EtcdCluster",namespace="prod",name="b",type="Paused",reason="PausedBySpec"} 1',
    'resource_condition{kind="EtcdRestore",namespace="prod",name="r",type="Accepted",reason="Waiting"} 1',
    'resource_condition{kind="EtcdCluster",namespace="prod",name="c",type="Paused",reason="PausedBySpec"} 1',
  ]);
});

test('what no one has to know about, and what is of another kind, is not reported', async () => {
  const well = resource('EtcdCluster', 'a', ['Available', 'LinearizableRead'], ['Accepted', 'Waiting']);
  expect(await lines([well, resource('Pod', 'p', ['Paused', 'PausedBySpec'])])).toEqual([]);
});

test('what has ended is not reported any more', async () => {
  const metrics = createMetrics();
  metrics.knownConditions(() => [stopped]);
  expect(await metrics.text()).toContain('PausedBySpec');
  metrics.knownConditions(() => []);
  expect(await metrics.text()).not.toContain('PausedBySpec');
});

test('of many the most serious are reported by name, and all are counted', async () => {
  const paused = Array.from({ length: 10_000 }, (_, at) =>
    resource('EtcdCluster', `c-${at}`, ['Paused', 'PausedBySpec']),
  );
  const found = await lines([...paused, stopped], 3);
  expect(found.filter(line => line.startsWith('resource_'))).toEqual(
    [
      ['b', 'QuorumAtRisk', 'QuorumLost'],
      ['b', 'Paused', 'PausedBySpec'],
      ['c-0', 'Paused', 'PausedBySpec'],
    ].map(
      ([name, type, reason]) =>
        `resource_condition{kind="EtcdCluster",namespace="prod",name="${name}",type="${type}",reason="${reason}"} 1`,
    ),
  );
  expect(found).toContain('fleet_conditions{kind="EtcdCluster",type="Paused",reason="PausedBySpec"} 10001');
});
