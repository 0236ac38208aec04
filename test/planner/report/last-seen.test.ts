/** What the status remembers of what each member said, and how often. */
import { describe, expect, it } from 'vitest';
import { lastSeenOf } from '../../../src/planner/report/last-seen.ts';
import { situationOf } from '../../../src/planner/situation.ts';
import { aCluster, aProbe, aRunningCluster, aRunningStatus, idOf, NOW } from '../../worlds/builders.ts';

const at = (seconds: number): string =>
  new Date(Date.parse(NOW) + seconds * 1_000).toISOString().replace('.000', '');
const ROW = {
  name: 'example-0',
  id: idOf('example-0'),
  time: at(-30),
  revision: '7',
  raftTerm: '2',
  raftIndex: '12',
};

function seen(before: object | undefined, said: object | undefined) {
  const status = { ...aRunningStatus(1), ...(before && { lastSeen: [before] }) } as ReturnType<
    typeof aRunningStatus
  >;
  const probes = said === undefined ? {} : { 'example-0': aProbe({ revision: '7', ...said }) };
  const cluster = aCluster({ spec: { size: 1 }, status });
  return lastSeenOf(situationOf(aRunningCluster({ cluster, probes }, 1), {}));
}

describe('what a member said last', () => {
  it('is noted when it answers for the first time, with the id that etcd knows it by', () => {
    expect(seen(undefined, {})).toEqual([{ ...ROW, time: at(0) }]);
    expect(seen(undefined, { isLearner: true })).toMatchObject([{ learner: true }]);
    expect(seen(undefined, undefined)).toBeUndefined();
  });

  it('is kept when it says nothing new, or no more', () => {
    expect(seen(ROW, {})).toEqual([ROW]);
    expect(seen({ ...ROW, time: at(-3_600) }, {})).toEqual([{ ...ROW, time: at(-3_600) }]);
    expect(seen(ROW, undefined)).toEqual([ROW]);
  });

  it('is noted again after a minute, not before', () => {
    expect(seen(ROW, { revision: '8', raftIndex: '13' })).toEqual([ROW]);
    const old = { ...ROW, time: at(-61) };
    expect(seen(old, { revision: '8' })).toEqual([{ ...ROW, time: at(0), revision: '8' }]);
    expect(seen(old, { raftIndex: '13' })).toEqual([{ ...ROW, time: at(0), raftIndex: '13' }]);
    // A clock that was set back does not keep it for ever.
    expect(seen({ ...ROW, time: at(3_600) }, { revision: '8' })).toMatchObject([{ revision: '8' }]);
  });

  it('is noted at once when the member became a voter, or is another one', () => {
    expect(seen({ ...ROW, learner: true }, {})).toEqual([{ ...ROW, time: at(0) }]);
    expect(seen(ROW, { memberId: 'ff' })).toMatchObject([{ id: 'ff' }]);
  });

  it('is nothing that a member of another cluster says', () => {
    expect(seen(ROW, { clusterId: 'another', revision: '99' })).toEqual([ROW]);
  });

  it('is nothing before the cluster has an id', () => {
    const { clusterID: _, ...status } = aRunningStatus(1);
    const cluster = aCluster({ spec: { size: 1 }, status });
    expect(lastSeenOf(situationOf(aRunningCluster({ cluster }, 1), {}))).toBeUndefined();
  });
});
