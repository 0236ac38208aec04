/** What is noted of an incarnation that is put aside, and which note is believed. */
import { describe, expect, it } from 'vitest';
import { ANNOTATION_KEPT_INCARNATION } from '../../../src/api/names.ts';
import {
  keptIncarnations,
  keptNote,
  keptNoteText,
  nodeNoted,
} from '../../../src/planner/model/kept-incarnations.ts';
import {
  aClaim,
  aCluster,
  anObservation,
  aRunningCluster,
  aRunningStatus,
  CLUSTER_ID,
  LONG_AGO,
  NOW,
  TOKEN,
} from '../../worlds/builders.ts';

const OLD = 'example-0b7e6e34-0';

describe('what is noted of an incarnation', () => {
  it('is nothing when none is recorded', () => {
    expect(keptNote(anObservation(), NOW)).toBeUndefined();
  });

  it('is who its members are, also when none was ever seen', () => {
    expect(keptNote(aRunningCluster(), NOW)).toEqual({
      token: TOKEN,
      clusterID: CLUSTER_ID,
      since: LONG_AGO,
      leftAt: NOW,
      members: ['example-0', 'example-1', 'example-2'].map(name => ({ name })),
    });
  });

  it('is what they had at least, who of them did not vote, and where they ran', () => {
    const seen = { time: NOW, raftTerm: '1', raftIndex: '1' };
    const cluster = aCluster({
      status: {
        ...aRunningStatus(),
        lastSeen: [
          { ...seen, name: 'example-0', id: 'a0', revision: '12', time: LONG_AGO },
          { ...seen, name: 'example-1', id: 'a1', revision: '9', learner: true },
          // It did not say its revision.
          { ...seen, name: 'example-2', id: 'a2' },
        ],
        members: {
          details: [{ name: 'example-2', id: 'a2', role: 'Learner', node: 'node-2', health: 'Healthy' }],
        },
      },
    });
    const note = keptNote(aRunningCluster({ cluster }), NOW);
    expect(note).toMatchObject({
      revision: 12,
      seenAt: NOW,
      members: [
        { name: 'example-0', id: 'a0' },
        { name: 'example-1', id: 'a1', learner: true },
        { name: 'example-2', id: 'a2', learner: true, node: 'node-2' },
      ],
    });
    const text = note === undefined ? '' : keptNoteText(note);
    const annotations = {
      [ANNOTATION_KEPT_INCARNATION]: text,
      'etcd.database.coreos.com/incarnation': TOKEN,
    };
    expect(nodeNoted(annotations, 'example-2')).toBe('node-2');
    expect(nodeNoted({}, 'example-2')).toBeUndefined();
  });
});

it('the note that was written last is believed, where an attempt was cut short', () => {
  const noted = (name: string, leftAt: string | undefined) =>
    aClaim({
      name,
      owned: false,
      keptByRestore: true,
      token: OLD,
      annotations: {
        [ANNOTATION_KEPT_INCARNATION]: JSON.stringify({
          token: OLD,
          leftAt,
          members: [{ name: `${name}-then` }],
        }),
      },
    });
  const claims = [noted('example-5', undefined), noted('example-6', NOW), noted('example-7', LONG_AGO)];
  for (const order of [claims, claims.toReversed()])
    expect(keptIncarnations(aRunningCluster().cluster, order)).toMatchObject([
      { token: OLD, note: { members: [{ name: 'example-6-then' }] }, claims: [{}, {}, {}] },
    ]);
});
