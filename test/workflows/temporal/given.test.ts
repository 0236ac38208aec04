/** When the answer to an update is there: histories record it between other commands, in an order that releases must agree on. */
import { describe, expect, it } from 'vitest';
import { carryOut, type GivenDriver } from '../../../src/workflows/temporal/given.ts';

const driver: GivenDriver = { entity: { people: {} }, dispatch: () => {} };
const PERSON = { by: 'a person' };

describe('an update that is no EtcdRequest', () => {
  it('is answered in the turn in which it comes, if nothing is waited for', () => {
    expect(carryOut(driver, PERSON, () => 'a backup is starting')).toBe('a backup is starting');
  });

  it('is answered with the very promise of what is waited for', () => {
    const answer = Promise.resolve('paused');
    expect(carryOut(driver, PERSON, () => answer)).toBe(answer);
  });
});
