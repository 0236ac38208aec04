/** The handlers of requests: a request is put on the list, and a pass judges it. */
import { condition, setHandler } from '@temporalio/workflow';
import type { EntityDriver } from '../temporal/entity-driver.ts';
import {
  moveLeaderSignal,
  moveLeaderUpdate,
  replaceMemberSignal,
  replaceMemberUpdate,
  restartSignal,
  restartUpdate,
} from '../messages/cluster.ts';
import { refusal } from '../messages/refusal.ts';
import type { ClusterMessage } from './people.ts';
import { type PersonRequest, requestOf } from './requests.ts';
import type { ClusterKind } from './rules.ts';

type Driver = EntityDriver<ClusterKind>;

/** How long an update waits for a pass to judge its request; the request is kept all the same. */
const NEXT_PASS = '60s';

const RECORDED = 'the request is recorded, and no pass has processed it yet: send the query plan';

/** How the messages of each kind are written. */
const FORMS = [
  {
    kind: 'replaceMember',
    signal: replaceMemberSignal,
    update: replaceMemberUpdate,
    field: 'member',
    description: 'replace a member with a new one: {"member": "…", "by": "…", "reason": "…"}',
  },
  {
    kind: 'moveLeader',
    signal: moveLeaderSignal,
    update: moveLeaderUpdate,
    field: 'to',
    description: 'move the leadership to a member: {"to": "…", "by": "…", "reason": "…"}',
  },
  {
    kind: 'restart',
    signal: restartSignal,
    update: restartUpdate,
    field: 'member',
    description:
      'restart one member, or all members one at a time: {"member": "…", "by": "…", "reason": "…"}',
  },
] as const;

export function handleRequests(driver: Driver, send: (message: ClusterMessage) => void): void {
  for (const { kind, signal, update, field, description } of FORMS) {
    const read = (sent: unknown) => requestOf(driver.entity.people, { kind, field, sent });
    const ask = (sent: unknown): PersonRequest | string => {
      const request = read(sent);
      if (typeof request === 'string') send({ kind: 'refuse', message: `${kind}: ${request}` });
      else send({ kind: 'ask', request });
      return request;
    };
    setHandler(signal, sent => void ask(sent), { description });
    setHandler(
      update,
      async sent => {
        const request = ask(sent);
        if (typeof request === 'string') throw refusal(request);
        return verdictOn(driver, request.id);
      },
      {
        description,
        validator: sent => {
          const request = read(sent);
          if (typeof request === 'string') throw refusal(request);
        },
      },
    );
  }
}

async function verdictOn(driver: Driver, id: PersonRequest['id']): Promise<string> {
  const find = () => driver.entity.people.judged.find(verdict => verdict.id === id);
  const isGone = () => driver.entity.phase === 'closing';
  await condition(() => find() !== undefined || isGone(), NEXT_PASS);
  const verdict = find();
  if (verdict === undefined && isGone()) throw refusal('the resource is gone');
  if (verdict?.outcome === 'refused') throw refusal(verdict.message);
  return verdict?.message ?? RECORDED;
}
