import { describe, expect, test } from 'vitest';
import { type ResourceRef, workflowId } from '../../src/api/names.ts';
import { Harness } from './harness.ts';
import { IDLE, owned, refTo, resource, secret } from './objects.ts';

const example = refTo('EtcdCluster', 'example');
const nightly = refTo('EtcdBackup', 'nightly');

describe('a change becomes a signal', () => {
  test.each(['EtcdCluster', 'EtcdBackup', 'EtcdRestore'] as const)('of a new %s, at once', async kind => {
    const world = new Harness();
    await world.watcher.start();
    const ref = refTo(kind, 'example');
    const stored = world.put(ref);
    expect(world.temporal.underWay).toBe(1);
    await world.clock.advance(100);
    expect([...world.temporal.workflows.keys()]).toEqual([
      `${kind.toLowerCase()}/default/example/${ref.uid.slice(0, 8)}`,
    ]);
    expect(world.temporal.signals(ref)).toEqual([
      { generation: 1, resourceVersion: stored.metadata.resourceVersion },
    ]);
    await world.stop();
  });

  test('of what a cluster owns, and only that cluster', async () => {
    const world = new Harness();
    await world.watcher.start();
    world.put(example);
    const other = refTo('EtcdCluster', 'other');
    world.put(other);
    await world.clock.advance(30_000);
    for (const kind of ['Pod', 'PersistentVolumeClaim', 'Service', 'PodDisruptionBudget', 'Secret']) {
      const before = world.temporal.signals(example).length;
      world.reflectors.put(owned(kind, 'example-0', example));
      await world.clock.advance(30_000);
      world.reflectors.remove(owned(kind, 'example-0', example));
      await world.clock.advance(30_000);
      expect(world.temporal.signals(example).length - before).toBe(2);
    }
    expect(world.temporal.signals(other)).toHaveLength(1);
    await world.stop();
  });

  test('within five seconds, however much has changed of late', async () => {
    const world = new Harness();
    await world.watcher.start();
    world.put(example);
    const pod = (round: number) =>
      owned('Pod', 'example-0', example, { status: { podIP: `10.0.0.${round}` } });
    const storm = async (): Promise<void> => {
      for (let round = 0; round < 100; round += 1) {
        world.reflectors.put(pod(round));
        await world.clock.advance(200);
      }
    };
    for (const urgent of [
      () => world.reflectors.remove(pod(0)),
      () => void world.put(example, { metadata: { generation: 2 } }),
    ]) {
      await storm();
      const before = world.temporal.signals(example).length;
      urgent();
      await world.clock.advance(5_020);
      expect(world.temporal.signals(example).length).toBeGreaterThan(before);
    }
    await world.stop();
  });

  test('of a Secret that is referred to, whose data is never kept', async () => {
    const world = new Harness();
    await world.watcher.start();
    world.put(nightly, { spec: { s3: { path: 'a/b', awsSecret: 'aws' } } });
    await world.clock.advance(30_000);
    world.reflectors.put(secret('aws', { data: { credentials: 'aHVudGVyMg==' } }));
    world.reflectors.put(secret('foreign', { data: { credentials: 'aHVudGVyMg==' } }));
    await world.clock.advance(30_000);
    expect(world.temporal.signals(nightly)).toHaveLength(2);
    world.reflectors.put(secret('aws', { data: { credentials: 'aHVudGVyMw==' } }));
    await world.clock.advance(30_000);
    expect(world.temporal.signals(nightly)).toHaveLength(3);
    expect(world.reflectors.stored()).not.toContain('aHVudGVy');
    await world.stop();
  });

  test('of an EtcdRestore, also to the cluster that it names', async () => {
    const world = new Harness();
    await world.watcher.start();
    world.put(example);
    world.put(refTo('EtcdCluster', 'other'));
    const back = refTo('EtcdRestore', 'back');
    const spec = { etcdCluster: { name: 'example' } };
    await world.clock.advance(30_000);
    const made = world.put(back, { spec });
    await world.clock.advance(30_000);
    world.put(back, { spec, status: { phase: 'Validating' } });
    await world.clock.advance(30_000);
    expect(world.temporal.signals(example)).toHaveLength(2);
    world.reflectors.remove(made);
    await world.clock.advance(30_000);
    expect(world.temporal.signals(example)).toHaveLength(3);
    expect(world.temporal.signals(refTo('EtcdCluster', 'other'))).toHaveLength(1);
    await world.stop();
  });

  test('but not of a status that the operator wrote', async () => {
    const world = new Harness();
    await world.watcher.start();
    world.put(example);
    for (let pass = 0; pass < 20; pass += 1) {
      world.put(example, { status: { phase: `pass ${pass}` } });
      await world.clock.advance(1_000);
    }
    expect(world.temporal.signals(example)).toHaveLength(1);
    expect(world.seen.filter(line => line === 'EtcdCluster false')).toHaveLength(20);
    await world.stop();
  });
});

describe('a resource that goes', () => {
  test('is signaled to its workflow when that runs; a workflow that has ended is not started again', async () => {
    const world = new Harness();
    await world.watcher.start();
    const object = world.put(example);
    const pod = owned('Pod', 'example-0', example);
    world.reflectors.put(pod);
    await world.clock.advance(30_000);
    const workflow = world.temporal.workflows.get(workflowId(example));
    if (workflow === undefined) throw new Error('no workflow was started');
    const before = workflow.signals.length;
    world.reflectors.remove(object);
    await world.clock.advance(30_000);
    expect(workflow.signals).toHaveLength(before + 1);
    workflow.running = false;
    world.reflectors.remove(pod);
    await world.clock.advance(700_000);
    expect(workflow).toMatchObject({ running: false, started: 1 });
    expect(world.watcher.stats()).toMatchObject({ resources: 0, waiting: 0 });
    await world.stop();
  });

  test('and comes again under its name is another one', async () => {
    const world = new Harness();
    await world.watcher.start();
    const first = world.put(example);
    world.reflectors.remove(first);
    const later = refTo('EtcdCluster', 'example', 2);
    world.reflectors.put(resource(later));
    await world.clock.advance(1_000);
    expect(world.temporal.signals(later)).toHaveLength(1);
    world.reflectors.put(owned('Pod', 'example-0', example));
    await world.clock.advance(10_000);
    expect(world.temporal.signals(later)).toHaveLength(1);
    await world.stop();
  });
});

describe('a resource that nothing happens to', () => {
  test('is reported once, when it is found', async () => {
    const world = new Harness();
    await world.watcher.start();
    const refs = Array.from({ length: 50 }, (_, index) => refTo('EtcdCluster', `c${index}`));
    for (const ref of refs) world.put(ref);
    await world.clock.advance(3_600_000);
    for (const ref of refs) expect(world.temporal.signals(ref)).toHaveLength(1);
    await world.stop();
  });

  test('starts the workflow anew that a user terminated', async () => {
    const world = new Harness();
    await world.watcher.start();
    world.put(example);
    await world.clock.advance(1_000);
    const workflow = world.temporal.workflows.get(workflowId(example));
    if (workflow === undefined) throw new Error('no workflow was started');
    workflow.running = false;
    await world.clock.advance(60_000);
    expect(workflow).toMatchObject({ running: true, started: 2 });
    await world.stop();
  });
});

describe('what is under way', () => {
  const back = refTo('EtcdRestore', 'back');
  test.each([
    { ref: back, when: 'not looked at yet', status: undefined, comesBack: true },
    { ref: back, when: 'under way', status: { phase: 'Growing' }, comesBack: true },
    { ref: back, when: 'ended', status: { phase: 'Failed', completedAt: 'then' }, comesBack: false },
    { ref: nightly, when: 'making a backup', status: { progress: { startedAt: 'now' } }, comesBack: true },
    { ref: nightly, when: 'waiting for the next', status: { phase: 'Succeeded' }, comesBack: true },
  ])('$ref.kind $when, its workflow terminated: started anew soon: $comesBack', async how => {
    const world = new Harness();
    await world.watcher.start();
    world.put(how.ref, how.status && { status: how.status });
    await world.clock.advance(1_000);
    const workflow = world.temporal.workflows.get(workflowId(how.ref));
    if (workflow === undefined) throw new Error('no workflow was started');
    workflow.running = false;
    await world.clock.advance(62_000);
    expect(workflow.running).toBe(how.comesBack);
    await world.stop();
  });
});

describe('leadership lost', () => {
  test('no signal, no write, no event counts after stop, whatever waits or comes', async () => {
    const world = new Harness();
    await world.watcher.start();
    const refs = Array.from({ length: 50 }, (_, index) => refTo('EtcdCluster', `c${index}`));
    for (const ref of refs) world.put(ref);
    await world.clock.advance(5);
    world.temporal.down();
    await world.clock.advance(2_500);
    const stopped = world.watcher.stop();
    const calls = world.temporal.calls;
    const writes = world.kube.calls.length;
    world.temporal.up();
    for (const ref of refs) world.put(ref, { metadata: { generation: 2 } });
    await world.clock.advance(700_000);
    await stopped;
    expect(world.temporal.calls).toBe(calls);
    expect(world.kube.calls).toHaveLength(writes);
    expect(world.reflectors.stopped).toBe(9);
    expect(world.clock.pending).toBe(0);
    expect(world.watcher.synced()).toBe(false);
  });

  test('a call that hangs is aborted after its grace', async () => {
    const world = new Harness();
    await world.watcher.start();
    world.temporal.latencyMs = 1_000_000;
    world.put(example);
    let done = false;
    const stopped = world.watcher.stop().then(() => {
      done = true;
    });
    await world.clock.advance(1_900);
    expect(done).toBe(false);
    await world.clock.advance(200);
    expect(done).toBe(true);
    await stopped;
    expect(world.temporal.underWay).toBe(0);
  });

  test('stop twice is stop; start after it, or twice, is refused', async () => {
    const world = new Harness();
    await world.watcher.start();
    await expect(world.watcher.start()).rejects.toThrow('create a new one');
    await world.stop();
    await world.watcher.stop();
    await expect(world.watcher.start()).rejects.toThrow('create a new one');
  });

  test('the next leader signals everything that it finds', async () => {
    const world = new Harness();
    await world.watcher.start();
    world.put(example);
    await world.stop();
    const next = world.make();
    await next.start();
    world.refresh(example);
    await world.clock.advance(100);
    expect(world.temporal.signals(example)).toHaveLength(2);
    const stopped = next.stop();
    await world.clock.advance(3_000);
    await stopped;
  });
});

describe('what is found by a start', () => {
  const refs = Array.from({ length: 100 }, (_, index) => refTo('EtcdCluster', `c${index}`));

  test('is signalled a few a second, what has something to do at once', async () => {
    const world = new Harness();
    world.reflectors.syncedNow = false;
    await world.watcher.start();
    const busy = refs.filter((_, index) => index % 10 === 9);
    for (const ref of refs) {
      world.put(ref, {
        status: busy.includes(ref) ? { ...IDLE, operation: { type: 'scaleCluster' } } : IDLE,
      });
    }
    world.reflectors.syncedNow = true;
    const signalled = () => refs.filter(ref => world.temporal.signals(ref).length > 0);
    await world.clock.advance(500);
    expect(busy.filter(ref => !signalled().includes(ref))).toEqual([]);
    expect(signalled().length).toBeLessThanOrEqual(busy.length + 3);
    await world.clock.advance(20_000);
    expect(refs.map(ref => world.temporal.signals(ref).length)).toEqual(refs.map(() => 1));
    await world.stop();
  });

  test.each([
    ['is not ready', { phase: 'Running', podIP: '10.0.0.7' }],
    ['is missing', undefined],
  ])('goes before the others where a pod %s', async (_, status) => {
    const world = new Harness();
    world.reflectors.syncedNow = false;
    await world.watcher.start();
    const details = (ref: ResourceRef) => [{ name: `${ref.name}-0`, health: 'Healthy' }];
    const ready = (at: number) => ({
      podIP: `10.0.1.${at}`,
      conditions: [{ type: 'Ready', status: 'True' }],
    });
    const broken = refs.at(-1);
    if (broken === undefined) throw new Error('no cluster');
    for (const [at, ref] of refs.entries()) {
      world.put(ref, { status: { ...IDLE, members: { details: details(ref) } } });
      const podStatus = ref === broken ? status : ready(at);
      if (podStatus !== undefined)
        world.reflectors.put(owned('Pod', `${ref.name}-0`, ref, { status: podStatus }));
    }
    world.reflectors.syncedNow = true;
    await world.clock.advance(1_500);
    expect(world.temporal.signals(broken)).toHaveLength(1);
    expect(world.watcher.stats().waiting).toBeGreaterThan(80);
    await world.stop();
  });

  test('does not hold up what happens meanwhile', async () => {
    const world = new Harness();
    world.reflectors.syncedNow = false;
    await world.watcher.start();
    for (const ref of refs) world.put(ref, { status: IDLE });
    world.reflectors.syncedNow = true;
    const last = refs.at(-1);
    if (last === undefined) throw new Error('no cluster');
    world.put(last, { metadata: { generation: 2 }, status: IDLE });
    await world.clock.advance(20);
    expect(world.temporal.signals(last)).toHaveLength(1);
    await world.clock.advance(20_000);
    expect(world.temporal.signals(last)).toHaveLength(1);
    await world.stop();
  });
});

test('every resource is reconciled once more five minutes after a start, which a worker of a former release may have spoiled', async () => {
  const world = new Harness(1, { againAfterMs: 300_000 });
  await world.watcher.start();
  world.put(example, { status: IDLE });
  await world.clock.advance(290_000);
  expect(world.temporal.signals(example)).toHaveLength(1);
  await world.clock.advance(3_600_000);
  expect(world.temporal.signals(example)).toHaveLength(2);
  await world.stop();
});

describe('leadership lost for a moment', () => {
  const refs = Array.from({ length: 100 }, (_, index) => refTo('EtcdCluster', `c${index}`));

  test('enqueues what changed meanwhile, and nothing else', async () => {
    const world = new Harness();
    await world.watcher.start();
    for (const ref of refs) world.put(ref, { status: IDLE });
    await world.clock.advance(60_000);
    const signals = (): number => refs.reduce((sum, ref) => sum + world.temporal.signals(ref).length, 0);
    const before = signals();
    for (let term = 0; term < 10; term += 1) {
      world.watcher.pause();
      await world.clock.advance(5_000);
      world.watcher.resume();
      await world.clock.advance(5_000);
    }
    expect(signals()).toBe(before);
    world.watcher.pause();
    const changed = refs.slice(0, 3);
    for (const ref of changed) world.put(ref, { metadata: { generation: 2 } });
    await world.clock.advance(20_000);
    expect(signals()).toBe(before);
    expect(world.watcher.synced()).toBe(false);
    world.watcher.resume();
    await world.clock.advance(5_000);
    expect(signals()).toBe(before + 3);
    for (const ref of changed) expect(world.temporal.signals(ref).at(-1)?.generation).toBe(2);
    await world.stop();
  });

  test('has members asked, and conditions written, by no one until it is won again', async () => {
    const world = new Harness();
    await world.watcher.start();
    world.put(example);
    world.reflectors.put(owned('Pod', 'example-0', example, { status: { podIP: '10.0.0.1' } }));
    await world.clock.advance(30_000);
    world.temporal.down();
    world.put(example, { metadata: { generation: 2 } });
    world.watcher.pause();
    await world.clock.advance(100);
    const [asked, writes] = [world.asked, world.kube.calls.length];
    await world.clock.advance(60_000);
    expect(world.asked).toBe(asked);
    expect(world.kube.calls).toHaveLength(writes);
    world.watcher.resume();
    await world.clock.advance(10_000);
    expect(world.asked).toBeGreaterThan(asked);
    expect(world.conditions(example)['TemporalUnavailable']).toMatchObject({ status: 'True' });
    await world.stop();
    expect(world.clock.pending).toBe(0);
  });
});

describe('new clusters', () => {
  const refs = Array.from({ length: 60 }, (_, index) => refTo('EtcdCluster', `c${index}`));

  test('are created a few at a time, and the next one when one is available', async () => {
    const world = new Harness(1, { creationsAtOnce: 10 });
    await world.watcher.start();
    for (const ref of refs) world.put(ref);
    const begun = () => refs.filter(ref => world.temporal.signals(ref).length > 0);
    await world.clock.advance(20_000);
    expect(begun()).toHaveLength(10);
    for (const ref of begun().slice(0, 4)) world.put(ref, { status: IDLE });
    await world.clock.advance(10_000);
    expect(begun()).toHaveLength(14);
    await world.stop();
  });

  test('that never become available hold up the others for a minute', async () => {
    const world = new Harness(1, { creationsAtOnce: 10 });
    await world.watcher.start();
    for (const ref of refs) world.put(ref);
    await world.clock.advance(7 * 60_000);
    expect(refs.filter(ref => world.temporal.signals(ref).length === 0)).toEqual([]);
    await world.stop();
  });
});

describe('while an operation is under way', () => {
  test('what it makes of its pods is signalled ten seconds later, and an edit at once', async () => {
    const world = new Harness();
    await world.watcher.start();
    const status = { ...IDLE, operation: { type: 'scaleCluster' } };
    world.put(example, { status });
    await world.clock.advance(30_000);
    const before = world.temporal.signals(example).length;
    world.reflectors.put(owned('Pod', 'example-0', example));
    await world.clock.advance(9_000);
    expect(world.temporal.signals(example)).toHaveLength(before);
    await world.clock.advance(2_000);
    expect(world.temporal.signals(example)).toHaveLength(before + 1);
    await world.clock.advance(30_000);
    world.put(example, { metadata: { generation: 2 }, status });
    await world.clock.advance(100);
    expect(world.temporal.signals(example)).toHaveLength(before + 2);
    await world.stop();
  });
});

test('synced when every reflector is', async () => {
  const world = new Harness();
  world.reflectors.syncedNow = false;
  expect(world.watcher.synced()).toBe(false);
  await world.watcher.start();
  expect(world.watcher.synced()).toBe(false);
  world.reflectors.syncedNow = true;
  expect(world.watcher.synced()).toBe(true);
  await world.stop();
});
