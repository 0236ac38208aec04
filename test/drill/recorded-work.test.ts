import { expect, test } from 'vitest';
import { lookedAtAgain, type RecordedRun, tasksTimedOutTwice } from '../stack/drill/recorded-work.ts';

const SECOND = 1_000;
const timeOf = (ms: number) => ({ seconds: Math.floor(ms / SECOND), nanos: (ms % SECOND) * 1e6 });

/** A run with activities, each asked for when it was taken. */
function run(workflowId: string, ...activities: readonly [name: string, taken: number, ended: number][]) {
  const events = activities.flatMap(([name, taken, ended], index) => {
    const id = index * 3 + 1;
    return [
      {
        eventId: id,
        eventTime: timeOf(taken),
        activityTaskScheduledEventAttributes: { activityType: { name } },
      },
      {
        eventId: id + 1,
        eventTime: timeOf(taken),
        activityTaskStartedEventAttributes: { scheduledEventId: id },
      },
      {
        eventId: id + 2,
        eventTime: timeOf(ended),
        activityTaskCompletedEventAttributes: { scheduledEventId: id, startedEventId: id + 1 },
      },
    ];
  });
  return { workflowId, runId: workflowId, events } as unknown as RecordedRun;
}

test('a cluster is looked at again when the first pass after the kill has ended', () => {
  const runs = [run('etcdcluster/a', ['assess', 1_000, 2_000], ['assess', 9_000, 12_000])];
  expect(lookedAtAgain(runs, 5_000)).toEqual([7_000]);
});

test('a pass that was taken before the kill is none after it, whenever its result was recorded', () => {
  expect(lookedAtAgain([run('etcdcluster/a', ['assess', 4_000, 6_000])], 5_000)).toEqual([]);
});

test('a cluster whose operation goes on is seen when a worker takes its step, and the first of both counts', () => {
  const runs = [
    run('etcdcluster/a', ['assess', 60_000, 61_000]),
    run('etcdcluster/a/operation', ['awaitQuiet', 8_000, 20_000]),
    run('etcdcluster/b', ['assess', 6_000, 6_500]),
  ];
  expect(lookedAtAgain(runs, 5_000)).toEqual([1_500, 3_000]);
});

test('a workflow task that was tried three times has timed out twice, and is shown among the events around it', () => {
  const tried = (attempt: number) => {
    const events = [
      { eventId: 6, eventTime: timeOf(1_000), workflowExecutionSignaledEventAttributes: {} },
      { eventId: 7, eventTime: timeOf(31_500), workflowTaskScheduledEventAttributes: { attempt } },
    ];
    return { workflowId: 'etcdcluster/a', runId: 'a', events } as unknown as RecordedRun;
  };
  expect(tasksTimedOutTwice([tried(1), tried(2)])).toEqual([]);
  expect(tasksTimedOutTwice([tried(3)])).toEqual([
    'event 7 of etcdcluster/a: a workflow task was tried 3 times: 6 workflowExecutionSignaled 00:00:01.000, 7 workflowTaskScheduled 00:00:31.500',
  ]);
});
