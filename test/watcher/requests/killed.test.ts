/** The watcher is killed at each of its calls for an EtcdRequest, before and after the call took effect; the next one goes on. */
import { expect, test } from 'vitest';
import { example, PAUSE, RequestWorld } from './request-world.ts';

/** A process that dies at its n-th call that changes something or asks a workflow. */
class Process {
  calls = 0;
  isDead = false;
  readonly #at: number;
  readonly #arrives: boolean;

  constructor(at: number, arrives: boolean) {
    this.#at = at;
    this.#arrives = arrives;
  }

  readonly around = <T extends object>(outside: T): T =>
    new Proxy(outside, {
      get: (target, name) => {
        const method: unknown = Reflect.get(target, name);
        if (typeof method !== 'function') return method;
        return (...args: unknown[]) => this.#call(() => Reflect.apply(method, target, args));
      },
    });

  async #call(run: () => unknown): Promise<unknown> {
    this.calls += 1;
    const isLast = !this.isDead && this.calls === this.#at;
    if (isLast && this.#arrives) await run();
    if (isLast) this.isDead = true;
    // Nobody is there any more to whom it could be answered.
    if (this.isDead) return new Promise(() => {});
    return run();
  }
}

async function playedWith(process: Process): Promise<RequestWorld> {
  const world = new RequestWorld();
  world.around = process.around;
  const first = world.make();
  await first.start();
  world.put(example);
  world.requests.verdict = { state: 'waiting', message: 'no pass has judged it yet' };
  world.ask('restart', { ...PAUSE, action: 'Restart', ttlSecondsAfterFinished: 60 });
  const next = async (seconds: number): Promise<void> => {
    await world.pass(seconds * 1_000, 'restart');
    if (!process.isDead || world.around !== process.around) return;
    world.around = outside => outside;
    world.watcher = world.make();
    await world.watcher.start();
    world.refresh(example);
    world.hear('restart');
    await world.pass(seconds * 1_000, 'restart');
  };
  await next(15);
  world.requests.ends('accepted', 'accepted');
  await next(15);
  world.requests.ends('done', 'restarted');
  await next(15);
  expect(world.status('restart')).toMatchObject({ phase: 'Completed', message: 'restarted' });
  await next(100);
  return world;
}

test('an EtcdRequest is carried out once and followed to its end, wherever the watcher is killed', async () => {
  const undisturbed = new Process(0, false);
  await playedWith(undisturbed);
  expect(undisturbed.calls).toBeGreaterThan(5);
  for (const arrives of [false, true])
    for (let at = 1; at <= undisturbed.calls; at += 1) {
      const process = new Process(at, arrives);
      const world = await playedWith(process);
      expect(process.isDead).toBe(true);
      expect(world.requests.done, `killed at call ${at}`).toHaveLength(1);
      expect(world.request('restart'), `killed at call ${at}`).toBeUndefined();
    }
});
