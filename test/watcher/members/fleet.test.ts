/** How soon every cluster of a fleet is surveyed, on a clock that is moved by hand. */
import { describe, expect, it } from 'vitest';
import { KnownResources, resourceFrom } from '../../../src/watcher/resources/known-resources.ts';
import { defaultTimings } from '../../../src/watcher/options.ts';
import { MemberMonitor } from '../../../src/watcher/members/monitor.ts';
import { FakeClock } from '../fake-clock.ts';
import { resource, refTo } from '../objects.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** As long as a member that hangs keeps a survey waiting. */
const HANGS_MS = 6 * SECOND;

/** The longest time, in minutes, in which a cluster was not asked; `minutes`: for how long it is watched; `hanging`: one in so many does not answer. */
async function longestGap(
  clusters: number,
  { minutes, hanging = Number.POSITIVE_INFINITY }: { minutes: number; hanging?: number },
): Promise<number> {
  const clock = new FakeClock();
  const known = new KnownResources();
  const lastAsked = new Map<string, number>();
  let longest = 0;
  const monitor = new MemberMonitor({
    health: () => ({ ask: async () => 'well', forget: () => {}, close: () => {} }),
    known,
    clock,
    enqueue: () => {},
    logger: { debug: () => {}, info: () => {}, warn: () => {} },
    options: defaultTimings,
    surveyor: {
      async ask({ name }) {
        longest = Math.max(longest, clock.now() - (lastAsked.get(name) ?? 0));
        lastAsked.set(name, clock.now());
        if (Number(name.slice(1)) % hanging === 0)
          await new Promise<void>(resolve => clock.after(HANGS_MS, resolve));
        return { probes: {}, membership: { known: true, members: [] } };
      },
      forget: () => {},
    },
  });
  for (let index = 1; index <= clusters; index += 1) {
    const ref = { ...refTo('EtcdCluster', `c${index}`), uid: `uid-${index}` };
    const object = resource(ref);
    const found = resourceFrom(object);
    if (found !== undefined) known.put(found);
    const controller = {
      apiVersion: 'v1',
      kind: 'EtcdCluster',
      name: ref.name,
      uid: ref.uid,
      controller: true,
    };
    const { namespace } = ref;
    const metadata = { name: `${ref.name}-0`, uid: `pod-${index}`, namespace, ownerReferences: [controller] };
    monitor.note({ type: 'added', object: { apiVersion: 'v1', kind: 'Pod', metadata, podIP: '10.0.0.7' } });
  }
  for (let elapsed = 0; elapsed < minutes * MINUTE; elapsed += SECOND / 4) {
    monitor.round();
    await clock.advance(SECOND / 4);
  }
  expect(lastAsked.size).toBe(clusters);
  return longest / MINUTE;
}

describe('every cluster is asked', () => {
  it.each([
    [100, 1.1],
    [1_000, 4.3],
  ])('of %i, within %f minutes', async (clusters, minutes) => {
    expect(await longestGap(clusters, { minutes: 3 * minutes })).toBeLessThanOrEqual(minutes);
  });

  it('of 2,000, as soon as otherwise, while one in ten hangs', async () => {
    expect(await longestGap(2_000, { minutes: 18, hanging: 10 })).toBeLessThanOrEqual(9);
  });
});
