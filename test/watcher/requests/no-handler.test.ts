/** EtcdRequests that are of a later release than the workers, as while the operator is upgraded or rolled back. */
import { describe, expect, test } from 'vitest';
import { workflowId } from '../../../src/api/names.ts';
import { example, PAUSE, started } from './request-world.ts';

describe('an EtcdRequest', () => {
  test('that no worker knows says that nothing has happened, and is taken when one of its release is there', async () => {
    const world = await started();
    world.requests.unhandled = 'pause';
    world.ask('stop');
    await world.pass(30_000, 'stop');
    expect(world.status('stop')).toMatchObject({ phase: 'Pending' });
    expect(world.reasons('stop')).toEqual({ Accepted: 'NotDelivered', Completed: 'NotAccepted' });
    expect(world.status('stop').message).toMatch(
      /^no worker of this release of the operator has had the request yet, and nothing has happened: .* expires at /,
    );
    world.requests.unhandled = undefined;
    await world.pass(12_000, 'stop');
    expect(world.status('stop')).toMatchObject({ phase: 'Completed', message: 'paused' });
    await world.stop();
  });

  test('that no worker knew until it expired has expired, and the next one follows', async () => {
    const world = await started();
    world.requests.unhandled = 'pause';
    world.ask('a-stop');
    await world.pass(2_000, 'a-stop');
    world.ask('b-restart', { ...PAUSE, action: 'Restart', expiresAfterSeconds: 3_600 });
    await world.pass(620_000, 'a-stop', 'b-restart');
    expect(world.status('a-stop')).toMatchObject({ phase: 'Expired' });
    expect(world.status('a-stop').completedAt).toBeDefined();
    expect(world.reasons('a-stop')).toEqual({ Accepted: 'RequestExpired', Completed: 'NotAccepted' });
    expect(world.status('b-restart')).toMatchObject({ phase: 'Completed' });
    expect(world.requests.done).toEqual([`${workflowId(example)} restart`]);
    await world.stop();
  });
});
