/** What is read from the raw objects of Kubernetes, and what is asked of etcd. */
import { describe, expect, it } from 'vitest';
import { observe } from '../../src/activities/observe/observe.ts';
import { claimFacts } from '../../src/activities/observe/claim-facts.ts';
import { podFacts } from '../../src/activities/observe/pod-facts.ts';
import { probeMembers } from '../../src/activities/observe/probe.ts';
import { ANNOTATION_KEPT_UNTIL, ANNOTATION_REPLACED_CONTAINER } from '../../src/api/names.ts';
import { EtcdError, type EtcdPort } from '../../src/etcd/port.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import { aPod } from '../worlds/builders.ts';
import { FakeEtcd } from '../fakes/etcd/etcd.ts';
import { OperatorWorld } from '../worlds/operator-world.ts';

function pod(status: object, metadata: Partial<KubeObject['metadata']> = {}): KubeObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'example-0', ...metadata }, status };
}

const waiting = (reason: string, message?: string, lastWords?: string) => ({
  phase: 'Running',
  containerStatuses: [
    {
      name: 'etcd',
      image: 'etcd:v3.6.16',
      state: { waiting: { reason, ...(message === undefined ? {} : { message }) } },
      ...(lastWords === undefined ? {} : { lastState: { terminated: { message: lastWords } } }),
    },
  ],
});

/** A log of etcd's, and the line that the kubelet cut through before it. */
const CUT_SHORT = `${'x'.repeat(1_990)}"}\n`;
const LOG = [
  '{"level":"info","msg":"bootstrapping cluster"}',
  '{"level":"error","msg":"bootstrap failed","error":"no log","stacktrace":"a\\n\\tb"}',
  '{"level":"info","msg":"closed etcd server"}',
  '{"level":"fatal","msg":"discovery failed","error":"no log","stacktrace":"a\\n\\tb"}',
];

const ended = (exitCode: number) => ({ terminated: { exitCode, reason: 'Error', message: LOG.at(-1) } });

describe('until when a claim is kept', () => {
  it.each([
    [undefined, undefined],
    ['2026-11-22T10:00:00Z', Date.parse('2026-11-22T10:00:00Z')],
    ['1970-01-01T00:00:00Z', 0],
    ['for ever', 8.64e15],
    ['', 8.64e15],
  ])('of which is noted %j', (note, until) => {
    const annotations = note === undefined ? {} : { [ANNOTATION_KEPT_UNTIL]: note };
    const claim = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'a', annotations } };
    expect(claimFacts(claim, { name: 'example', uid: 'u' }).keptUntil).toBe(until);
  });
});

describe('why a pod does not start', () => {
  const cases: readonly [title: string, status: object, trouble: unknown][] = [
    ['nothing is known yet', {}, undefined],
    [
      'it runs',
      { phase: 'Running', containerStatuses: [{ name: 'etcd', state: { running: {} } }] },
      undefined,
    ],
    ['its container is being created', waiting('ContainerCreating'), undefined],
    ['its images are being pulled', waiting('PodInitializing'), undefined],
    [
      'no node takes it',
      {
        phase: 'Pending',
        conditions: [
          {
            type: 'PodScheduled',
            status: 'False',
            reason: 'Unschedulable',
            message: '0/3 nodes are available',
          },
        ],
      },
      { reason: 'Unschedulable', message: '0/3 nodes are available' },
    ],
    [
      'no node takes it, and the scheduler gives no reason',
      { conditions: [{ type: 'PodScheduled', status: 'False' }] },
      { reason: 'Unschedulable', message: '' },
    ],
    [
      'it was evicted',
      { phase: 'Failed', reason: 'Evicted', message: 'the node was low on memory' },
      { reason: 'Evicted', message: 'the node was low on memory' },
    ],
    ['it failed without a message', { phase: 'Failed' }, { reason: 'Failed', message: '' }],
    [
      'its image cannot be pulled: one text, whatever turn the kubelet is at',
      waiting('ErrImagePull', 'rpc error: code = NotFound desc = ...'),
      { reason: 'ImagePullBackOff', message: 'the image etcd:v3.6.16 cannot be pulled' },
    ],
    [
      'etcd ended: its last words, not the kubelet’s back-off',
      waiting('CrashLoopBackOff', 'back-off 40s', ' panic: no space left on device \n'),
      { reason: 'CrashLoopBackOff', message: 'panic: no space left on device' },
    ],
    [
      'etcd ended: the faults of its log, once each and without stack traces',
      waiting('CrashLoopBackOff', '', CUT_SHORT + LOG.join('\n')),
      {
        reason: 'CrashLoopBackOff',
        message: 'bootstrap failed: no log\ndiscovery failed: no log',
      },
    ],
    [
      'etcd ended for the first time, and is started again at once',
      { containerStatuses: [{ name: 'etcd', restartCount: 0, state: ended(1) }] },
      undefined,
    ],
    [
      'etcd ended again, and the kubelet has not called it a crash loop yet',
      { containerStatuses: [{ name: 'etcd', restartCount: 1, state: ended(1) }] },
      { reason: 'CrashLoopBackOff', message: 'discovery failed: no log' },
    ],
    [
      'etcd ended without a fault',
      { containerStatuses: [{ name: 'etcd', restartCount: 1, state: ended(0) }] },
      undefined,
    ],
    [
      'etcd ended and nothing is left of its words',
      waiting('CrashLoopBackOff', 'back-off 40s'),
      { reason: 'CrashLoopBackOff', message: 'back-off 40s' },
    ],
    [
      'its container cannot be made again: what stands in the way, not why the last one ended, and not which one it was to be',
      waiting(
        'CreateContainerError',
        `failed to generate container "${'9728e35aa8f5edac'.repeat(4)}" spec: failed to stat "/data": input/output error`,
        'received signal; shutting down',
      ),
      {
        reason: 'CreateContainerError',
        message: 'failed to generate container "…" spec: failed to stat "/data": input/output error',
      },
    ],
    [
      'a key of a Secret is gone since it ran',
      waiting(
        'CreateContainerConfigError',
        "couldn't find key tls.crt in Secret shop/peer",
        'panic: it was so',
      ),
      { reason: 'CreateContainerConfigError', message: "couldn't find key tls.crt in Secret shop/peer" },
    ],
    [
      'etcd said more than fits: the end counts',
      waiting('CrashLoopBackOff', '', `${'x'.repeat(900)}the cause`),
      { reason: 'CrashLoopBackOff', message: `…${'x'.repeat(391)}the cause` },
    ],
  ];
  it.each(cases)('%s', (_, status, trouble) => {
    expect(podFacts(pod(status), 'u').trouble).toEqual(trouble);
  });

  const killed = { exitCode: 137, reason: 'OOMKilled', finishedAt: '2026-11-21T10:00:00Z', message: LOG[0] };
  const limited = (memory?: string) => ({
    spec: {
      containers: [{ name: 'etcd', ...(memory !== undefined && { resources: { limits: { memory } } }) }],
    },
  });
  const crashing = (terminated: object) => ({
    phase: 'Running',
    containerStatuses: [
      {
        name: 'etcd',
        restartCount: 4,
        state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 40s' } },
        lastState: { terminated },
      },
    ],
  });

  it.each([
    [
      '8Mi',
      /used more memory than its limit of 8Mi \(OOMKilled\); raise spec\.pod\.resources\.limits\.memory$/,
    ],
    [undefined, /its node ran out of memory \(OOMKilled\)$/],
  ])(
    'etcd was ended for its memory, with a limit of %s: what it logged last has no part in it',
    (memory, words) => {
      const facts = podFacts({ ...pod(crashing(killed)), ...limited(memory) }, 'u');
      expect(facts.trouble).toEqual({ reason: 'CrashLoopBackOff', message: expect.stringMatching(words) });
      const at = Date.parse('2026-11-21T10:00:00Z');
      expect(facts).toMatchObject({ restarts: 4, lastExit: { reason: 'OOMKilled', at } });
      expect(facts.lastExit?.message).toMatch(words);
    },
  );

  it('its memory limit is too low to create a container', () => {
    const message =
      'failed to create containerd task: OCI runtime create failed: container init was OOM-killed (memory limit too low?)';
    const status = waiting('RunContainerError', message);
    expect(podFacts({ ...pod(status), ...limited('1Mi') }, 'u').trouble).toEqual({
      reason: 'RunContainerError',
      message: 'its memory limit of 1Mi is too low to start it; raise spec.pod.resources.limits.memory',
    });
  });

  it('etcd runs again after it was ended for its memory, and why is kept', () => {
    const status = {
      phase: 'Running',
      containerStatuses: [
        { name: 'etcd', restartCount: 1, state: { running: {} }, lastState: { terminated: killed } },
      ],
    };
    const facts = podFacts({ ...pod(status), ...limited('64Mi') }, 'u');
    expect(facts.trouble).toBeUndefined();
    expect(facts).toMatchObject({ restarts: 1, lastExit: { message: expect.stringContaining('64Mi') } });
  });

  it('etcd was asked to end, which is no fault', () => {
    const lastState = { terminated: { exitCode: 0, reason: 'Completed' } };
    const status = {
      containerStatuses: [{ name: 'etcd', restartCount: 1, state: { running: {} }, lastState }],
    };
    expect(podFacts(pod(status), 'u').lastExit).toBeUndefined();
  });

  /** Of etcd 3.6.16 on data of 3.5 with keys of the v2 API, as far as a kubelet keeps it. */
  const STACK = [
    'edule/schedule.go:202 +0x2c7',
    'panic({0x10f3a80?, 0x27d13eac1930?})',
    '\truntime/panic.go:860 +0x13a',
    'go.uber.org/zap.(*Logger).Panic(0x27d13ed1f320?, {0x138702b?, 0x0?}, {0x27d13eaa4cc0, 0x1, 0x1})',
    '\tgo.uber.org/zap@v1.27.0/logger.go:285 +0x4b',
    'go.etcd.io/etcd/server/v3/etcdserver.v2ToV3Request(_, _)',
    '\tgo.etcd.io/etcd/server/v3@v3.6.16/etcdserver/apply_v2.go:31 +0x252',
    'go.etcd.io/etcd/server/v3/etcdserver.(*EtcdServer).applyAll(0x27d13ee36308, 0x27d13ed94cf0, 0x27d13ed20b40)',
    '\tgo.etcd.io/etcd/server/v3@v3.6.16/etcdserver/server.go:985 +0x57',
    'go.etcd.io/etcd/pkg/v3/schedule.job.Do(...)',
    '\tgo.etcd.io/etcd/pkg/v3@v3.6.16/schedule/schedule.go:41',
    'created by go.etcd.io/etcd/pkg/v3/schedule.NewFIFOScheduler in goroutine 134',
    '\tgo.etcd.io/etcd/pkg/v3@v3.6.16/schedule/schedule.go:101 +0x16f',
  ];
  const V2 =
    /^the data contains requests or keys of the v2 API, with which etcd 3\.6 and later do not start: /;
  const v2Log = JSON.stringify({
    level: 'fatal',
    msg: 'discovery failed',
    error: 'detected disallowed custom content in v2store for stage --v2-deprecation=write-only',
  });

  it.each([
    ['a stack that was cut', `${'x'.repeat(1_000)}\n`.repeat(2) + STACK.join('\n'), V2],
    ['what etcd says of it', v2Log, V2],
    [
      'what Go says before a stack',
      [
        'panic: tocommit(8) is out of range [lastIndex(3)]',
        '',
        'goroutine 1 [running]:',
        ...STACK.slice(1, 5),
      ].join('\n'),
      /^panic: tocommit\(8\) is out of range \[lastIndex\(3\)\]$/,
    ],
    [
      'the function in which it ended, when only a stack is left',
      STACK.filter(line => !line.includes('v2')).join('\n'),
      /^a fault in etcdserver\.\(\*EtcdServer\)\.applyAll; /,
    ],
  ])('etcd ended by a fault: %s', (_, log, words) => {
    const terminated = { exitCode: 2, reason: 'Error', message: log };
    expect(podFacts(pod(crashing(terminated)), 'u').trouble?.message).toMatch(words);
  });
});

describe('the facts of a pod', () => {
  it('are those of an unknown pod when nothing is said', () => {
    expect(podFacts({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'example-0' } }, 'u')).toMatchObject({
      name: 'example-0',
      uid: '',
      owned: false,
      token: undefined,
      phase: 'Unknown',
      ready: false,
      deleting: false,
      ip: undefined,
      node: undefined,
      firstStart: 'fixed',
    });
  });

  it('hold no address while it has none', () => {
    expect(podFacts(pod({ podIP: '' }), 'u').ip).toBeUndefined();
  });

  it.each([
    ['True', true],
    ['False', false],
    ['Unknown', false],
  ])('are ready when the kubelet says %s', (status, ready) => {
    expect(podFacts(pod({ conditions: [{ type: 'Ready', status }] }), 'u').ready).toBe(ready);
  });

  it('name the image that cannot be pulled, not the one that the container ran before', () => {
    const spec = { containers: [{ name: 'etcd', image: 'etcd:v3.6.99' }] };
    expect(podFacts({ ...pod(waiting('ErrImagePull')), spec }, 'u').trouble).toEqual({
      reason: 'ImagePullBackOff',
      message: 'the image etcd:v3.6.99 cannot be pulled',
    });
  });

  it.each([
    ['the kubelet says so', false, undefined],
    ['Kubernetes says so, while the kubelet said otherwise', true, true],
  ])('are not ready because %s', (_, ready, stale) => {
    const conditions = [{ type: 'Ready', status: 'False' }];
    const facts = podFacts(pod({ conditions, containerStatuses: [{ name: 'etcd', ready }] }), 'u');
    expect(facts).toMatchObject({ ready: false });
    expect(facts.statusStale).toBe(stale);
  });

  it.each([
    ['the container before its image was replaced', 'containerd://1', false],
    ['the one after that', 'containerd://2', true],
  ])('are taken from %s', (_, containerID, ready) => {
    const status = {
      conditions: [{ type: 'Ready', status: 'True' }],
      containerStatuses: [{ name: 'etcd', containerID, ready: true }],
    };
    const { metadata, ...others } = pod(status);
    const annotations = { [ANNOTATION_REPLACED_CONTAINER]: 'containerd://1' };
    const facts = podFacts({ ...others, metadata: { ...metadata, annotations } }, 'u');
    expect(facts).toMatchObject({ ready });
    expect(facts.statusStale).toBeUndefined();
  });

  it('of a claim say by its token whose it is', () => {
    const claim = (token?: string): KubeObject => ({
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: {
        name: 'example-0',
        ...(token === undefined ? {} : { annotations: { 'etcd.database.coreos.com/incarnation': token } }),
      },
    });
    const cluster = { name: 'example', uid: '0b7e6e34-55a2' };
    expect(claimFacts(claim('example-0b7e6e34-1'), cluster)).toMatchObject({ owned: true, phase: 'Pending' });
    expect(claimFacts(claim('example-99999999-1'), cluster).owned).toBe(false);
    expect(claimFacts(claim('example-0b7e6e34'), cluster).owned).toBe(false);
    expect(claimFacts(claim(), cluster).owned).toBe(false);
  });
});

describe('what etcd is asked', () => {
  const cluster = { name: 'example', namespace: 'default', domain: '' };
  const hosts = ['10.0.0.1', '10.0.0.2', '10.0.0.3'];
  const pods = hosts.map((ip, serial) => aPod({ name: `example-${serial}`, ip }));

  function bootstrapped(): FakeEtcd {
    const etcd = new FakeEtcd();
    etcd.bootstrap({ name: 'example', hosts });
    return etcd;
  }

  it('is answered by every member, and the list by a quorum', async () => {
    const etcd = bootstrapped();
    const { probes, membership } = await probeMembers(etcd, cluster, pods);
    const rows = etcd.clusters[0]?.rows ?? [];
    expect(Object.values(probes).map(probe => probe.answered && probe.memberId)).toEqual(
      rows.map(row => row.id),
    );
    expect(membership).toMatchObject({
      known: true,
      clusterId: etcd.clusters[0]?.id,
      members: rows.map(({ id, name }) => ({ id, name, isLearner: false, started: true })),
    });
    expect(etcd.open).toBe(0);
  });

  it('of pods without an address is nothing', async () => {
    const { probes, membership } = await probeMembers(bootstrapped(), cluster, [aPod({ ip: undefined })]);
    expect(probes).toEqual({});
    expect(membership).toEqual({ known: false, message: 'no member answers a linearizable read' });
  });

  it('and not answered says why, and leaves no connection open', async () => {
    const etcd = bootstrapped();
    etcd.stop('10.0.0.1');
    etcd.set('10.0.0.2', 'frozen');
    const { probes, membership } = await probeMembers(etcd, cluster, pods);
    expect(probes['example-0']).toEqual({
      answered: false,
      message: expect.stringContaining('ECONNREFUSED'),
    });
    expect(probes['example-1']).toEqual({ answered: false, message: expect.stringContaining('Deadline') });
    expect(probes['example-2']).toMatchObject({
      answered: true,
      leaderId: undefined,
      read: { ok: false, message: expect.stringContaining('no leader') },
    });
    expect(membership.known).toBe(false);
    expect(etcd.open).toBe(0);
  });

  it('of a member that is cut off from its peers does not count as the list', async () => {
    const etcd = bootstrapped();
    etcd.set('10.0.0.1', 'isolated');
    const { probes, membership } = await probeMembers(etcd, cluster, pods);
    expect(probes['example-0']).toMatchObject({ answered: true, read: { ok: false } });
    expect(membership.known).toBe(true);
  });

  it('of a member that is promoted meanwhile is that of a voter', async () => {
    const etcd = bootstrapped();
    let refusals = 1;
    const promotedMeanwhile: EtcdPort = {
      member: target => {
        const member = etcd.member(target);
        const linearizableRead = async () => {
          if (target.host === '10.0.0.1' && refusals-- > 0)
            throw new EtcdError('learner', 'etcdserver: rpc not supported for learner');
          return member.linearizableRead();
        };
        return { ...member, linearizableRead };
      },
    };
    const { probes } = await probeMembers(promotedMeanwhile, cluster, pods);
    expect(probes['example-0']).toMatchObject({ answered: true, isLearner: false, read: { ok: true } });
    expect(etcd.open).toBe(0);
  });

  it('distinguishes a member that was bootstrapped and never started from one that has', async () => {
    const etcd = new FakeEtcd();
    const peers = [0, 1, 2].map(serial => `example-${serial}=http://example-${serial}:2380`).join(',');
    for (const [serial, host] of hosts.slice(0, 2).entries()) {
      const args = [
        `--name=example-${serial}`,
        `--initial-cluster=${peers}`,
        '--initial-cluster-state=new',
        '--initial-cluster-token=t',
      ];
      expect(etcd.start({ host, args, disk: host })).toBeUndefined();
    }
    const { membership } = await probeMembers(etcd, cluster, pods);
    const started = membership.known && membership.members.map(({ name, started: is }) => [name, is]);
    expect(started).toEqual([
      ['example-0', true],
      ['example-1', true],
      ['example-2', false],
    ]);
  });
});

describe('an observation', () => {
  it('looks for names and for the default class only until the incarnation is recorded', async () => {
    const world = new OperatorWorld();
    world.kubelet.asleep = true;
    for (const name of ['example-3', 'example-x', 'example-03', 'another-9', 'example-1-2']) {
      world.kube.seed({ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'shop' } });
    }
    world.kube.seed({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'example-7', namespace: 'elsewhere' },
    });
    const first = await observe(world.deps, world.ref);
    expect(first?.observation).toMatchObject({ namesSeen: ['example-3'], defaultStorageClass: 'standard' });
    await world.step();
    const second = await observe(world.deps, world.ref);
    expect(second?.observation).toMatchObject({ namesSeen: [], defaultStorageClass: undefined });
  });

  it('asks no member of a cluster that is being deleted, and no pod of others', async () => {
    const world = new OperatorWorld();
    await world.run();
    world.kubelet.asleep = true;
    world.kube.seed({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'stranger', namespace: 'shop', labels: { etcd_cluster: 'example' } },
      status: { podIP: '10.9.9.9' },
    } as never);
    const seen = await observe(world.deps, world.ref);
    expect(seen?.observation.pods.map(({ name, owned }) => [name, owned])).toContainEqual([
      'stranger',
      false,
    ]);
    expect(Object.keys(seen?.observation.probes ?? {})).toEqual(['example-0', 'example-1', 'example-2']);
    await world.deleteCluster();
    expect((await observe(world.deps, world.ref))?.observation.probes).toEqual({});
  });
});
