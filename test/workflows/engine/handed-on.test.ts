/**
 * What a run hands to the next one is read by whichever release has that next run: after an update by a newer one, after a rollback by an
 * older one. Fields that a release does not know change nothing of what it does, and are handed on with what people asked for.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backupRules } from '../../../src/workflows/backup/rules.ts';
import * as backup from '../../../src/workflows/backup/people.ts';
import { NOTHING_ASKED } from '../../../src/workflows/cluster/people.ts';
import { clusterRules } from '../../../src/workflows/cluster/rules.ts';
import { Draft } from '../../../src/workflows/engine/draft.ts';
import { entityReducer } from '../../../src/workflows/engine/entity-reducer.ts';
import {
  type Carried,
  type Entity,
  type EntityEffect,
  type EntityEvent,
  type Kind,
  newEntity,
  type Rules,
} from '../../../src/workflows/engine/entity.ts';
import { continueAsNew } from '../../../src/workflows/engine/looks.ts';
import * as restore from '../../../src/workflows/restore/rules.ts';

const FACTS = {
  now: 1_000_000,
  history: 'short',
  handlersFinished: true,
  mayPause: () => true,
  mayFollow: () => true,
  mayPace: () => true,
  mayHandBack: () => true,
} as const;
const LATER = 'ofLaterRelease';
const by = { by: 'ana', reason: 'to see' };
const ids = ['8e9e05c5'];
const uid = '0b7e6e34';
const timing = { startToCloseSeconds: 10, scheduleToCloseSeconds: 10, heartbeatSeconds: 10 };

type AnyEvent = EntityEvent<Kind>;

const messages = (of: readonly object[]): AnyEvent[] => of.map(message => ({ kind: 'message', message }));
const passes = (of: readonly object[]): AnyEvent[] => of.map(assessment => ({ kind: 'looked', assessment }));
const endings = (of: readonly object[]): AnyEvent[] => of.map(ending => ({ kind: 'ended', ending }));

const ANY: readonly AnyEvent[] = [
  { kind: 'changed' },
  { kind: 'turn' },
  { kind: 'timer' },
  { kind: 'started' },
  { kind: 'slotTaken' },
  { kind: 'cancelled' },
];
const COMMON = [
  { kind: 'pause', request: by },
  { kind: 'resume' },
  { kind: 'resync' },
  { kind: 'abort', request: by },
];

/** Of each kind: its rules, the people that it begins with, and events that may come. */
const KINDS: Readonly<
  Record<string, readonly [rules: unknown, people: unknown, events: readonly AnyEvent[]]>
> = {
  EtcdCluster: [
    clusterRules,
    NOTHING_ASKED,
    [
      ...messages([
        ...COMMON,
        {
          kind: 'approve',
          approval: { id: 1, operation: 'scaleCluster', ids, by: 'ana', expiresAt: FACTS.now + 9 },
        },
        { kind: 'ask', request: { id: 2, kind: 'restart', target: 'example-1', by: 'ana' } },
        { kind: 'refuse', message: 'no' },
        { kind: 'used', ids: [1, uid] },
      ]),
      ...passes([
        { decision: { kind: 'idle', nextLookSeconds: 60 }, generation: 1 },
        {
          decision: { kind: 'idle', nextLookSeconds: 60 },
          generation: 1,
          holding: { pause: uid, abort: 'another' },
          revoked: { paused: by },
        },
        {
          decision: {
            kind: 'operate',
            operation: 'scaleCluster',
            step: { kind: 'addLearner' },
            timing,
            plan: [],
          },
          generation: 2,
          verdicts: [{ id: 2, outcome: 'accepted', message: 'accepted', ids }],
        },
        {
          decision: {
            kind: 'blocked',
            reason: 'x',
            message: 'y',
            nextLookSeconds: 60,
            plan: [],
            consent: { operation: 'scaleCluster', ids },
          },
          generation: 2,
        },
      ]),
      ...endings([
        { operation: 'scaleCluster', runId: 'r', outcome: 'ended' },
        { operation: 'scaleCluster', outcome: 'failed', message: 'no', step: 'addLearner' },
        { operation: 'scaleCluster', outcome: 'aborted', by },
      ]),
    ],
  ],
  EtcdBackup: [
    backupRules,
    backup.NOTHING_ASKED,
    [
      ...messages([
        ...COMMON,
        { kind: 'backup', request: by },
        { kind: 'verify', wanted: { uid, expiresAt: FACTS.now + 1, location: 's3://a', level: 'Restore' } },
        { kind: 'verify', wanted: { uid: 'another', expiresAt: FACTS.now + 1 } },
      ]),
      ...passes([
        { decision: { kind: 'idle', nextLookSeconds: 60 } },
        {
          decision: {
            kind: 'operate',
            operation: 'takeBackup',
            step: { kind: 'beginBackup', startedAt: '2026-11-23T12:00:00Z', requestedBy: 'ana' },
            timing,
            summary: 'begin',
          },
          summary: { paused: false, newest: [], lastRun: { startedAt: '2026-11-23T12:00:00Z' } },
        },
        { decision: { kind: 'idle', nextLookSeconds: 60 }, refused: { uid: 'another', message: 'no' } },
        {
          decision: {
            kind: 'operate',
            operation: 'verifyStoredBackup',
            step: { kind: 'verifyStoredBackup', request: uid },
            timing,
            summary: 'verify',
          },
          summary: { paused: false, newest: [], verification: { request: uid } },
        },
        {
          decision: { kind: 'idle', nextLookSeconds: 60 },
          summary: {
            paused: false,
            newest: [],
            verification: {
              request: uid,
              completedAt: '2026-11-23T12:00:00Z',
              outcome: 'Verified',
              message: 'good',
            },
          },
        },
      ]),
      ...endings([
        { operation: 'takeBackup', outcome: 'failed', startedAt: '2026-11-23T12:00:00Z', message: 'no' },
        { operation: 'pruneBackups', outcome: 'ended' },
        { operation: 'verifyStoredBackup', outcome: 'ended' },
        { operation: 'verifyStoredBackup', outcome: 'aborted', by },
      ]),
    ],
  ],
  EtcdRestore: [
    restore.restoreRules,
    restore.NOTHING_ASKED,
    [
      { kind: 'message', message: 'resync' },
      ...passes([
        { decision: { kind: 'waiting' }, summary: { phase: 'Fencing' } },
        { decision: { kind: 'refused', reason: 'x', message: 'y' } },
        { decision: { kind: 'operate', step: { kind: 'examineBackup' }, timing, summary: 'examine' } },
      ]),
      ...endings([{ failure: 'no' }, { failure: undefined }]),
    ],
  ],
};

type Played = readonly [state: Entity<Kind>, effects: readonly EntityEffect<Kind>[]];

function play(rules: Rules<Kind>, carried: Carried<Kind>, events: readonly AnyEvent[]): Played {
  const reduce = entityReducer(rules);
  const first: Played = [newEntity(carried), []];
  return [{ kind: 'begin' } as const, ...events].reduce<Played>(([state, effects], event) => {
    const [next, caused] = reduce(state, event, FACTS);
    return [next, [...effects, ...caused]];
  }, first);
}

function handedOn(rules: Rules<Kind>, state: Entity<Kind>): Carried<Kind> {
  const draft = new Draft(rules, state, FACTS);
  continueAsNew(draft);
  const [, effects] = draft.result;
  for (const effect of effects) if (effect.kind === 'continueAsNew') return asSent(effect.carried);
  throw new Error('nothing is handed on');
}

/** As Temporal carries it from one run to the next. */
const asSent = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** With a field more in every object for which `has` says so, by its place. */
function extended(value: unknown, has: (place: string) => boolean, place = ''): unknown {
  if (Array.isArray(value)) return value.map((each, index) => extended(each, has, `${place}/${index}`));
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([key, each]) => [key, extended(each, has, `${place}/${key}`)]);
  const more = has(place) ? [[LATER, { deep: ['unknown'] }]] : [];
  return Object.fromEntries([...fields, ...more]);
}

/** Without these fields, and as it is sent. */
function withoutLater<T>(value: T): T {
  return JSON.parse(JSON.stringify(value, (key, each) => (key === LATER ? undefined : each))) as T;
}

describe.each(Object.entries(KINDS))('what an %s hands on', (_, [its, nothingAsked, events]) => {
  const rules = its as Rules<Kind>;
  const story = fc.array(fc.constantFrom(...ANY, ...events), { maxLength: 12 });

  it('means the same with fields of a later release, and these are kept', () => {
    fc.assert(
      fc.property(story, story, fc.func(fc.boolean()), (before, after, has) => {
        const [state] = play(rules, { people: nothingAsked }, before);
        const carried = handedOn(rules, state);
        const later = extended(carried, place => place === '/people' || has(place)) as Carried<Kind>;
        const [here, effects] = play(rules, carried, after);
        const [there, theirs] = play(rules, later, after);
        expect(withoutLater(theirs)).toEqual(asSent(effects));
        expect(withoutLater(there)).toEqual(asSent(here));
        expect(there.people).toHaveProperty(LATER);
      }),
      { numRuns: 300 },
    );
  });

  it('may lack all but what people asked for', () => {
    fc.assert(
      fc.property(story, story, (before, after) => {
        const [state] = play(rules, { people: nothingAsked }, before);
        const { people } = handedOn(rules, state);
        expect(() => play(rules, { people }, after)).not.toThrow();
      }),
      { numRuns: 100 },
    );
  });
});
