/** etcd's calls through etcd3, without what it does by itself (docs/decisions/0064-etcd-is-called-through-etcd3.md). The snapshot is in `snapshot-call.ts`. */
import { InterceptingCall, type Interceptor } from '@grpc/grpc-js';
import { AlarmAction, AlarmType, DowngradeAction, Etcd3, type IHashKVResponse, type IOptions } from 'etcd3';
import type { MemberConnection } from './connection.ts';
import type { DowngradeAction as Action } from './port.ts';

type FaultPolicy = NonNullable<NonNullable<IOptions['faultHandling']>['global']>;

/**
 * No retry and no circuit breaker. etcd3's own breaker would answer for a member that is coming back without
 * sending anything, and its retries would repeat calls whose outcome is unknown.
 */
const noPolicy: FaultPolicy = {
  get _altReturn(): never {
    throw new Error('_altReturn exists for the type checker only');
  },
  execute: async <T>(call: (context: { signal: AbortSignal }) => PromiseLike<T> | T) =>
    call({ signal: new AbortController().signal }),
  onSuccess: () => ({ dispose: () => {} }),
  onFailure: () => ({ dispose: () => {} }),
};

/** etcd3 repeats a call that is refused with these words, without a pause, until its deadline. */
const INVALID_TOKEN = 'etcdserver: invalid auth token';

const refuseInvalidTokens: Interceptor = (options, nextCall) =>
  new InterceptingCall(nextCall(options), {
    start: (metadata, _listener, next) => {
      next(metadata, {
        onReceiveStatus: (said, forward) => {
          const details = said.details.replace(INVALID_TOKEN, 'etcdserver: refused: invalid auth token');
          forward({ ...said, details });
        },
      });
    },
  });

/** The services of one member. Closing it leaves the connection open. */
export class EtcdClient extends Etcd3 {
  /** @param interceptors of each call, the outermost first */
  constructor(connection: MemberConnection, ...interceptors: readonly Interceptor[]) {
    super({
      hosts: connection.address,
      grpcOptions: connection.clientOptions(refuseInvalidTokens, interceptors),
      faultHandling: { host: () => noPolicy, global: noPolicy },
    });
  }

  /** `maintenance.hashKV` asks grpc-js for a method of a name that it does not have. */
  hashKv(revision: string, deadline: number): Promise<IHashKVResponse> {
    return this.pool.exec('Maintenance', 'HashKV', { revision }, { deadline });
  }

  /** With etcd's own names of actions and alarms etcd3 would send zeros, which change nothing. */
  async disarm(memberID: string, alarm: 'NOSPACE' | 'CORRUPT', deadline: number): Promise<void> {
    const type = { NOSPACE: AlarmType.Nospace, CORRUPT: AlarmType.Corrupt }[alarm];
    await this.maintenance.alarm({ action: AlarmAction.Deactivate, memberID, alarm: type }, { deadline });
  }

  /** As with alarms: with etcd's own names every action would be `VALIDATE`. */
  async downgrade(action: Action, version: string, deadline: number): Promise<void> {
    const { Validate, Enable, Cancel } = DowngradeAction;
    const asked = { validate: Validate, enable: Enable, cancel: Cancel }[action];
    await this.maintenance.downgrade({ action: asked, version }, { deadline });
  }
}
