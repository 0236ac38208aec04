/** What workflows tell each other is known when it comes, and what somebody forged is not taken for it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ACTION_TIMING } from '../../src/planner/model/steps/row.ts';
import {
  isAssessment,
  isBackupAssessment,
  isBackupEnding,
  isEnding,
  isRestoreAssessment,
} from '../../src/workflows/messages/shapes.ts';

interface Payloads {
  readonly payloads?: readonly { readonly data?: string }[];
}
interface Event {
  readonly eventId: string;
  readonly activityTaskScheduledEventAttributes?: { readonly activityType: { readonly name: string } };
  readonly activityTaskCompletedEventAttributes?: {
    readonly scheduledEventId: string;
    readonly result?: Payloads;
  };
  readonly workflowExecutionSignaledEventAttributes?: {
    readonly signalName: string;
    readonly input?: Payloads;
  };
}

const folder = fileURLToPath(new URL('../histories', import.meta.url));

/** What was really said, by the name of the activity that answered it or of the signal that brought it. */
function* said(): Generator<readonly [string, unknown]> {
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (!/\.json(\.gz)?$/.test(path)) continue;
    const bytes = readFileSync(join(folder, path));
    const text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
    const { events } = JSON.parse(text) as { readonly events: readonly Event[] };
    const scheduled = new Map(
      events.map(each => [each.eventId, each.activityTaskScheduledEventAttributes?.activityType.name ?? '']),
    );
    for (const each of events) {
      const { activityTaskCompletedEventAttributes: done, workflowExecutionSignaledEventAttributes: sent } =
        each;
      if (done !== undefined) yield [scheduled.get(done.scheduledEventId) ?? '', decoded(done.result)];
      if (sent !== undefined) yield [sent.signalName, decoded(sent.input)];
    }
  }
}

function decoded(input: Payloads | undefined): unknown {
  const data = input?.payloads?.[0]?.data;
  return data === undefined ? undefined : JSON.parse(Buffer.from(data, 'base64').toString());
}

/** With a field more in every object. */
function withMore(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withMore);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([key, each]) => [key, withMore(each)]);
  return { ...Object.fromEntries(fields), ofLaterRelease: { deep: ['unknown'] } };
}

const known: Readonly<Record<string, (value: unknown) => boolean>> = {
  assess: isAssessment,
  assessBackup: isBackupAssessment,
  assessRestore: isRestoreAssessment,
  ended: value => isEnding(value) || isBackupEnding(value),
};

describe('the data of workflows and passes', () => {
  it('is valid in every recorded history', () => {
    const seen = new Set<string>();
    for (const [name, value] of said()) {
      if (known[name] === undefined) continue;
      seen.add(name);
      expect({ name, value, known: known[name](value) }).toEqual({ name, value, known: true });
    }
    expect([...seen].sort()).toEqual(Object.keys(known).sort());
  });

  it('is valid with fields of a later release in every part of it', () => {
    const refused = [...said()].filter(([name, value]) => known[name]?.(withMore(value)) === false);
    expect(refused).toEqual([]);
  });

  it('is not valid when it, or a part of it, is any other JSON', () => {
    const real = [...said()].filter(([name]) => known[name] !== undefined);
    const genuine = new Map(real);
    for (const [name, isKnown] of Object.entries(known)) {
      expect(isKnown(undefined)).toBe(false);
      fc.assert(
        fc.property(fc.jsonValue(), value => {
          expect(() => isKnown(value)).not.toThrow();
          expect(() => isKnown({ ...(genuine.get(name) as object), decision: value })).not.toThrow();
        }),
        { numRuns: 200 },
      );
    }
  });

  const decision = { kind: 'idle', nextPassSeconds: 60 };
  const summary = {
    phase: 'Running',
    version: '3.6.16',
    size: 3,
    membersReady: 3,
    healthy: true,
    paused: false,
    members: [],
    conditions: [],
  };
  const good = { decision, generation: 1, summary };
  const operating = (timing: object) => ({
    ...good,
    decision: {
      kind: 'operate',
      operation: 'createCluster',
      step: { kind: 'removeFinalizer' },
      timing: { ...ACTION_TIMING, ...timing },
      plan: [{ kind: 'removeFinalizer', summary: 'remove the finalizer' }],
    },
  });

  it('takes a step with its timing', () => {
    expect(isAssessment(operating({}))).toBe(true);
    expect(isAssessment(operating({ retry: { maximumSeconds: 60, attempts: 5 }, isTransfer: true }))).toBe(
      true,
    );
  });

  it.each<readonly [string, unknown]>([
    ['no decision', { ...good, decision: undefined }],
    ['a decision of an unknown kind', { ...good, decision: { kind: 'toString' } }],
    [
      'a plan that is a text',
      { ...good, decision: { ...decision, kind: 'blocked', reason: '', message: '', plan: 'x' } },
    ],
    ['a step that may take no time', operating({ startToCloseSeconds: 0 })],
    ['a step that may take for ever', operating({ scheduleToCloseSeconds: 1e12 })],
    [
      'retries further apart at first than at most',
      operating({ retry: { initialSeconds: 9, maximumSeconds: 3 } }),
    ],
    ['retries closer together than the first two', operating({ retry: { maximumSeconds: 0.5 } })],
    ['a number of attempts below one', operating({ retry: { maximumSeconds: 9, attempts: 0 } })],
    ['a summary without members', { ...good, summary: { ...summary, members: undefined } }],
    ['half a member', { ...good, summary: { ...summary, membersReady: 1.5 } }],
    [
      'a phase that no search attribute holds',
      { ...good, summary: { ...summary, phase: 'x'.repeat(3_000) } },
    ],
    ['verdicts that are no list', { ...good, verdicts: {} }],
    ['a repair without a kind', { ...good, repaired: {} }],
  ])('is refused with %s', (_, forged) => {
    expect(isAssessment(good)).toBe(true);
    const ending = { operation: 'createCluster', outcome: 'ended' };
    expect(isEnding({ ...ending, assessment: good })).toBe(true);
    expect(isAssessment(forged)).toBe(false);
    expect(isEnding({ ...ending, assessment: forged })).toBe(false);
  });

  it.each<readonly [string, unknown]>([
    ['nothing', null],
    ['no outcome', { operation: 'scaleCluster' }],
    ['used approvals that are no list', { operation: 'scaleCluster', outcome: 'ended', used: 7 }],
    [
      'more than the next run can be handed',
      { operation: 'scaleCluster', outcome: 'failed', message: 'x'.repeat(300_000) },
    ],
  ])('the end of an operation is refused with %s', (_, forged) => expect(isEnding(forged)).toBe(false));

  it.each([
    [null],
    [{}],
    [{ operation: 'takeBackup' }],
    [{ operation: 'takeBackup', outcome: 'ended', by: 'ana' }],
  ])('the end of a backup is refused as %j', forged => expect(isBackupEnding(forged)).toBe(false));
});
