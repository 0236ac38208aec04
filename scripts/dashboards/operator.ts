/** Rows on the operator itself, and on Temporal. */
import { by, nineOfTen, own, rateBy, ofWatcher } from './fleet-queries.ts';
import { ask, graph, type Row } from './panel.ts';

export const OPERATOR: Row = {
  title: 'The operator',
  panels: [
    graph({
      title: 'Watches',
      description: 'Exactly one replica does.',
      queries: ask(by('pod', 'etcd_operator_watcher_leader'), '{{pod}}'),
    }),
    graph({
      title: 'Resources without a pass',
      description: 'For which no pass has succeeded for a minute: their status is not current.',
      queries: ask(ofWatcher('max by (kind)', 'etcd_operator_resources_without_pass'), '{{kind}}'),
      limits: { red: 1 },
    }),
    graph({
      title: 'Waiting for their signal',
      description: 'Resources whose workflow has not been signaled yet. It is zero except for moments.',
      queries: ask(by('pod', 'etcd_operator_watch_queue_depth'), '{{pod}}'),
    }),
    graph({
      title: 'Passes',
      description: 'By decision.',
      unit: 'cps',
      queries: ask(rateBy('decision', 'etcd_operator_passes_total'), '{{decision}}'),
    }),
    graph({
      title: 'Activities that did not complete',
      description: 'waiting: not yet, asked again soon. failed: the log says why.',
      unit: 'cps',
      queries: ask(
        rateBy('activity, outcome', 'etcd_operator_activity_duration_seconds_count', 'outcome!="completed"'),
        '{{activity}} {{outcome}}',
      ),
    }),
    graph({
      title: 'Calls to the API server that were refused or failed',
      description: '404 and 409 are part of normal work. 0: no answer.',
      unit: 'cps',
      queries: ask(
        rateBy(
          'method, kind, code',
          'etcd_operator_kubernetes_call_duration_seconds_count',
          'code!~"2..|404|409"',
        ),
        '{{method}} {{kind}} {{code}}',
      ),
    }),
    graph({
      title: 'Calls to the API server (nine of ten)',
      description: 'How long they take, by method.',
      unit: 's',
      queries: ask(
        nineOfTen('method', 'etcd_operator_kubernetes_call_duration_seconds_bucket'),
        '{{method}}',
      ),
    }),
    graph({
      title: 'Signals to workflows (nine of ten)',
      description: 'How long Temporal takes to accept them.',
      unit: 's',
      queries: ask(nineOfTen('outcome', 'etcd_operator_signal_duration_seconds_bucket'), '{{outcome}}'),
    }),
    graph({
      title: 'Memory',
      description: 'Resident memory of each replica; its limit is 1 GiB by default.',
      unit: 'bytes',
      queries: ask(by('pod', 'etcd_operator_process_resident_memory_bytes'), '{{pod}}'),
    }),
    graph({
      title: 'CPU time',
      description: 'Seconds of a processor in a second.',
      queries: ask(rateBy('pod', 'etcd_operator_process_cpu_seconds_total'), '{{pod}}'),
    }),
    graph({
      title: 'Delay of the event loop (slowest hundredth)',
      description: 'Above a second the replica lacks CPU time.',
      unit: 's',
      queries: ask(by('pod', 'etcd_operator_nodejs_eventloop_lag_p99_seconds'), '{{pod}}'),
      limits: { yellow: 0.5, red: 1 },
    }),
  ],
};

export const TEMPORAL: Row = {
  title: 'Temporal, as the operator sees it',
  panels: [
    graph({
      title: 'Requests',
      description: 'By operation; those by which workers wait for tasks are not among them.',
      unit: 'cps',
      queries: ask(rateBy('operation', 'temporal_request'), '{{operation}}'),
    }),
    graph({
      title: 'Requests that fail',
      description:
        'Part of normal work: NOT_FOUND, ALREADY_EXISTS, and INVALID_ARGUMENT of RespondWorkflowTaskCompleted (a signal came meanwhile). TRANSPORT_ERROR: the server is gone.',
      unit: 'cps',
      queries: [
        ...ask(rateBy('operation, status_code', 'temporal_request_failure'), '{{operation}} {{status_code}}'),
        ...ask(
          rateBy('operation, status_code', 'temporal_long_request_failure'),
          '{{operation}} {{status_code}}',
        ),
      ],
    }),
    graph({
      title: 'Duration of requests (nine of ten)',
      description: 'By operation.',
      unit: 's',
      queries: ask(nineOfTen('operation', 'temporal_request_latency_bucket'), '{{operation}}'),
    }),
    graph({
      title: 'Activities wait for a worker (nine of ten)',
      description:
        'From being scheduled to being started. It grows when the operator has too few slots or too little CPU time.',
      unit: 's',
      queries: ask(
        nineOfTen('task_queue', 'temporal_activity_schedule_to_start_latency_bucket'),
        '{{task_queue}}',
      ),
    }),
    graph({
      title: 'Slots of workers that are taken',
      description: 'The share of the slots of each kind of task. At 100 % tasks wait for a free one.',
      unit: 'percentunit',
      queries: ask(
        [
          `sum by (worker_type) (${own('temporal_worker_task_slots_used')})`,
          `  / (sum by (worker_type) (${own('temporal_worker_task_slots_used')}) + sum by (worker_type) (${own('temporal_worker_task_slots_available')}))`,
        ].join('\n'),
        '{{worker_type}}',
      ),
      limits: { red: 1 },
    }),
  ],
};
