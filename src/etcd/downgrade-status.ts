/** Whether a downgrade is enabled, as a member's status says from 3.6 on: fields that the status of etcd3 does not have. */
import { Client, type Interceptor, InterceptingCall } from '@grpc/grpc-js';
import type { MemberConnection } from './connection.ts';
import { plausibleVersion } from './plausible.ts';
import { BYTES, fieldAt } from './protobuf.ts';

/** `StatusResponse.downgradeInfo`, and in it `enabled` and `targetVersion` (etcd's api/etcdserverpb/rpc.proto). */
const DOWNGRADE_INFO = 13;
const ENABLED = 1;
const TARGET_VERSION = 2;

/** Of the call nothing is changed on its way. */
const asItIs: Interceptor = (options, nextCall) => new InterceptingCall(nextCall(options));

/** To which version, such as 3.6.0; empty while none is enabled. Closing nothing: the connection is the caller's. */
export function readDowngrade(
  connection: MemberConnection,
  interceptors: readonly Interceptor[],
  deadline: number,
): Promise<string> {
  const options = connection.clientOptions(asItIs, interceptors);
  const client = new Client(connection.address, connection.credentials, options);
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      '/etcdserverpb.Maintenance/Status',
      () => Buffer.alloc(0),
      downgradeIn,
      undefined,
      { deadline },
      (error, said) => {
        client.close();
        if (error === null && said !== undefined) resolve(said);
        else reject(error ?? new Error('the member said nothing'));
      },
    );
  });
}

/** @param message a `StatusResponse` */
export function downgradeIn(message: Buffer): string {
  const info = fieldsOf(message).find(({ number }) => number === DOWNGRADE_INFO)?.bytes;
  const fields = info === undefined ? [] : fieldsOf(info);
  const isEnabled = fields.some(({ number, value }) => number === ENABLED && value === 1);
  const target = fields.find(({ number }) => number === TARGET_VERSION)?.bytes.toString();
  return isEnabled ? plausibleVersion(target ?? '') : '';
}

function fieldsOf(
  message: Buffer,
): { readonly number: number; readonly value: number; readonly bytes: Buffer }[] {
  const fields = [];
  for (let at = 0; at < message.length; ) {
    const field = fieldAt(message, at);
    if (field === undefined) throw new Error('a message of the member ends too early');
    const { number, type, value, end } = field;
    const last = type === BYTES ? end + value : end;
    fields.push({ number, value, bytes: message.subarray(end, last) });
    at = last;
  }
  return fields;
}
