/**
 * What people ask to have done. A request is kept until a pass says that it is done or refused; what it means is the
 * planner's business. Handlers only put it on the list.
 */
import type { SignalDefinition, UpdateDefinition } from '@temporalio/common';
import { condition, setHandler } from '@temporalio/workflow';
import type { Actor, Assessment } from '../activities/index.ts';
import type { EntityState } from './entity-state.ts';
import {
  moveLeaderSignal,
  moveLeaderUpdate,
  type Request,
  replaceMemberSignal,
  replaceMemberUpdate,
  restartSignal,
  restartUpdate,
} from './messages.ts';
import { isText, refusal, words } from './words.ts';

export type PersonRequest = NonNullable<Actor['requests']>[number];
type Verdict = NonNullable<Assessment['verdicts']>[number];

/** As many may wait for each other. */
const MOST = 10;
/** How long an update waits for a pass to judge its request; the request is kept all the same. */
const NEXT_PASS = '60s';

/** How the messages of each kind are written. */
const FORMS = {
  replaceMember: {
    signal: replaceMemberSignal,
    update: replaceMemberUpdate,
    field: 'member',
    description: 'replace a member by a new one: {"member": "…", "by": "…", "reason": "…"}',
  },
  moveLeader: {
    signal: moveLeaderSignal,
    update: moveLeaderUpdate,
    field: 'to',
    description: 'hand leadership to a member: {"to": "…", "by": "…", "reason": "…"}',
  },
  restart: {
    signal: restartSignal,
    update: restartUpdate,
    field: 'member',
    description: 'restart one member, or all one at a time: {"member": "…", "by": "…", "reason": "…"}',
  },
} as const;

/** Registers the handlers of all kinds. `forward` tells a running operation of them. */
export function handleRequests(state: EntityState, forward: () => Promise<unknown>): void {
  for (const kind of ['replaceMember', 'moveLeader', 'restart'] as const) {
    const { signal, update, field, description } = FORMS[kind];
    const ask = (sent: unknown) => {
      const request = requestOf(state, { kind, field, sent });
      if (typeof request === 'string') state.refused = `${kind}: ${request}`;
      else {
        state.nextId += 1;
        state.requests = [...state.requests, request];
        state.dirty = true;
        void forward();
      }
      return request;
    };
    // What people send is whatever they send: `requestOf` looks at it.
    setHandler(signal as SignalDefinition<[unknown]>, sent => void ask(sent), { description });
    setHandler(
      update as UpdateDefinition<string, [unknown]>,
      async sent => {
        const request = ask(sent);
        if (typeof request === 'string') throw refusal(request);
        return verdictOn(state, request.id);
      },
      {
        description,
        validator: sent => {
          const request = requestOf(state, { kind, field, sent });
          if (typeof request === 'string') throw refusal(request);
        },
      },
    );
  }
}

/** Takes in what a pass said of the requests. True when the next pass can go on with one that was accepted. */
export function takeVerdicts(state: EntityState, verdicts: readonly Verdict[] = []): boolean {
  let isNew = false;
  for (const verdict of verdicts) {
    const request = state.requests.find(({ id }) => id === verdict.id);
    if (request === undefined) continue;
    state.judged = [...state.judged.filter(({ id }) => id !== verdict.id), verdict].slice(-MOST);
    if (verdict.outcome !== 'accepted') {
      state.requests = state.requests.filter(({ id }) => id !== verdict.id);
      if (verdict.outcome === 'refused') state.refused = `${request.kind}: ${verdict.message}`;
    } else if (request.ids === undefined) {
      // What it is about is settled once: a restart would otherwise meet the pods that it made.
      const accepted = { ...request, ids: verdict.ids };
      state.requests = state.requests.map(each => (each.id === verdict.id ? accepted : each));
      isNew = true;
    }
  }
  return isNew;
}

/** Takes back everything that was asked for and not done, and says what it was. */
export function takeBack(state: EntityState): string[] {
  const taken = state.requests.map(({ kind, target }) => `${kind} ${target}`.trim());
  state.requests = [];
  return taken;
}

async function verdictOn(state: EntityState, id: number): Promise<string> {
  const find = () => state.judged.find(verdict => verdict.id === id);
  await condition(() => find() !== undefined || state.gone, NEXT_PASS);
  const verdict = find();
  if (verdict === undefined && state.gone) throw refusal('the resource is gone');
  if (verdict?.outcome === 'refused') throw refusal(verdict.message);
  return verdict?.message ?? 'kept; no pass has looked at it yet: ask the query plan';
}

interface Sent {
  readonly kind: PersonRequest['kind'];
  readonly field: 'member' | 'to';
  readonly sent: unknown;
}

/** What was sent, as a request that can be put on the list, or why it cannot. */
function requestOf(state: EntityState, { kind, field, sent }: Sent): PersonRequest | string {
  const given = (sent ?? {}) as Request & Record<string, unknown>;
  const target = given[field];
  const example = JSON.stringify({ [field]: 'example-1', by: 'ana', reason: 'its node is retired' });
  if (!isText(given.by)) return `"by" must say who asks: send ${example}`;
  if (target !== undefined && !isText(target))
    return `"${field}" must be the name of a member: send ${example}`;
  if (target === undefined && kind !== 'restart') return `"${field}" is missing: send ${example}`;
  const twin = state.requests.find(each => each.kind === kind && each.target === (target ?? ''));
  if (twin !== undefined) return `${twin.by} asked for the same already, and it is not done yet`;
  if (state.requests.length >= MOST) return `${MOST} requests wait already: abort takes them back`;
  return {
    id: state.nextId,
    kind,
    target: target === undefined ? '' : words(target),
    by: words(given.by),
    ...(isText(given.reason) && { reason: words(given.reason) }),
  };
}
