/** What entities remember of EtcdRequests, without any server. */
import { describe, expect, it } from 'vitest';
import { rememberedOf } from '../../../src/workflows/engine/given.ts';
import {
  afterMessage,
  type ClusterPeople,
  forgetExpired,
  NOTHING_ASKED,
} from '../../../src/workflows/cluster/people.ts';
import * as backup from '../../../src/workflows/backup/people.ts';
import { givenFrom } from '../../../src/workflows/messages/given.ts';

const at = { running: undefined, assessment: undefined };
const restart = (id: number) => ({ id, kind: 'restart' as const, target: `example-${id}`, by: 'ana' });

function asked(uid: string, expiresAt: number, people: ClusterPeople = NOTHING_ASKED): ClusterPeople {
  const message = { kind: 'ask', request: restart(people.nextId), given: { uid, expiresAt } } as const;
  return afterMessage({ people, ...at }, message, 0);
}

describe('a request that no pass accepts in time', () => {
  it('is taken off the list, and no other', () => {
    const people = asked('later', 2_000, asked('soon', 1_000));
    expect(forgetExpired(people, 1_000).requests).toHaveLength(2);
    const after = forgetExpired(people, 1_001);
    expect(after.requests.map(({ target }) => target)).toEqual(['example-2']);
    expect(rememberedOf(after, 'soon')?.state).toBe('expired');
    expect(rememberedOf(after, 'later')?.state).toBe('waiting');
  });

  it('of a backup is asked for no more, and what others ask for is', () => {
    const ana = { kind: 'backup', request: { by: 'ana' }, given: { uid: 'u', expiresAt: 1_000 } } as const;
    const people = backup.afterMessage(backup.NOTHING_ASKED, ana, false);
    const requested = (now: number, of = people) => backup.actorOf(backup.forgetExpired(of, now)).requested;
    expect(requested(1_000)).toEqual({ by: 'ana' });
    expect(requested(1_001)).toBeUndefined();
    expect(rememberedOf(backup.forgetExpired(people, 1_001), 'u')?.state).toBe('expired');
    const bob = backup.afterMessage(people, { kind: 'backup', request: { by: 'bob' } }, false);
    expect(requested(1_001, bob)).toEqual({ by: 'bob' });
  });
});

it('remembers the last that are final and all that are open, however many come', () => {
  let people = asked('open', 1e12);
  for (let number = 0; number < 200; number += 1) {
    const given = { uid: `uid-${number}`, expiresAt: 1e12 };
    people = afterMessage({ people, ...at }, { kind: 'given', given, answer: 'resumed' }, 0);
  }
  expect(people.given).toHaveLength(33);
  expect(rememberedOf(people, 'open')?.state).toBe('waiting');
  expect(rememberedOf(people, 'uid-199')?.state).toBe('done');
});

it.each([
  ['nothing', undefined],
  ['no request', { by: 'ana' }],
  ['null', { request: null }],
  ['no uid', { request: { expiresAt: 1 } }],
  ['a uid of another type', { request: { uid: {}, expiresAt: 1 } }],
  ['a uid that is far too long', { request: { uid: 'x'.repeat(65), expiresAt: 1 } }],
  ['no time', { request: { uid: 'u' } }],
  ['a time that is no date', { request: { uid: 'u', expiresAt: 1e300 } }],
])('%s is no EtcdRequest', (_, sent) => {
  expect(givenFrom(sent)).toBeUndefined();
});
