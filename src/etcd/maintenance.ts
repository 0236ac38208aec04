/**
 * etcd's Maintenance service, as far as it is used, on our own stub (the snapshot is in `snapshot-call.ts`): etcd3 lacks the
 * fields of 3.6 and its calls of this service are partly broken. Field numbers are etcd's (api/etcdserverpb/rpc.proto); unknown
 * fields are skipped, so one description serves every version.
 */
import { Client, type Interceptor, type ServiceError } from '@grpc/grpc-js';
import protobuf from 'protobufjs';
import type { MemberConnection } from './connection.ts';
import type { StoreHash } from './port.ts';

const types = protobuf.Root.fromJSON({
  nested: {
    ResponseHeader: {
      fields: { cluster_id: { type: 'uint64', id: 1 }, member_id: { type: 'uint64', id: 2 } },
    },
    AlarmRequest: {
      fields: {
        action: { type: 'uint32', id: 1 },
        memberID: { type: 'uint64', id: 2 },
        alarm: { type: 'uint32', id: 3 },
      },
    },
    MoveLeaderRequest: { fields: { targetID: { type: 'uint64', id: 1 } } },
    HashKVRequest: { fields: { revision: { type: 'int64', id: 1 } } },
    HashKVResponse: {
      fields: { hash: { type: 'uint32', id: 2 }, compactRevision: { type: 'int64', id: 3 } },
    },
    StatusRequest: { fields: {} },
    StatusResponse: {
      fields: {
        header: { type: 'ResponseHeader', id: 1 },
        version: { type: 'string', id: 2 },
        dbSize: { type: 'int64', id: 3 },
        leader: { type: 'uint64', id: 4 },
        raftIndex: { type: 'uint64', id: 5 },
        raftTerm: { type: 'uint64', id: 6 },
        raftAppliedIndex: { type: 'uint64', id: 7 },
        errors: { rule: 'repeated', type: 'string', id: 8 },
        dbSizeInUse: { type: 'int64', id: 9 },
        isLearner: { type: 'bool', id: 10 },
      },
    },
  },
});
const alarmRequest = types.lookupType('AlarmRequest');
const moveLeaderRequest = types.lookupType('MoveLeaderRequest');
const hashRequest = types.lookupType('HashKVRequest');
const hashResponse = types.lookupType('HashKVResponse');
const statusRequest = types.lookupType('StatusRequest');
const statusResponse = types.lookupType('StatusResponse');

/** AlarmRequest.AlarmAction and AlarmType. */
const DEACTIVATE = 2;
const ALARMS = { NOSPACE: 1, CORRUPT: 2 } as const;

/** StatusResponse as it is on the wire: 64-bit numbers in decimal. */
export type RawStatus = {
  readonly header: { readonly cluster_id: string; readonly member_id: string };
  readonly version: string;
  readonly dbSize: string;
  readonly dbSizeInUse: string;
  readonly leader: string;
  readonly raftIndex: string;
  readonly raftTerm: string;
  readonly raftAppliedIndex: string;
  readonly errors: readonly string[];
  readonly isLearner: boolean;
};

/** A call: its request and how the answer is read. */
type Request<Response> = {
  readonly type: protobuf.Type;
  readonly fields: object;
  readonly decode: (bytes: Buffer) => Response;
};

export class MaintenanceClient {
  readonly #client: Client;

  constructor(connection: MemberConnection, ...interceptors: readonly Interceptor[]) {
    const options = connection.clientOptions(...interceptors);
    this.#client = new Client(connection.address, connection.credentials, options);
  }

  /** What the member says of itself. Rejects with grpc's ServiceError; `deadline` is in milliseconds since 1970. */
  status(deadline: number): Promise<RawStatus> {
    return this.#call('Status', { type: statusRequest, fields: {}, decode: decodeStatus }, deadline);
  }

  /** Takes an alarm of the member of this id (decimal) back. As {@link status} otherwise. */
  async disarm(memberID: string, alarm: keyof typeof ALARMS, deadline: number): Promise<void> {
    const fields = { action: DEACTIVATE, memberID, alarm: ALARMS[alarm] };
    await this.#call('Alarm', { type: alarmRequest, fields, decode: decodeNothing }, deadline);
  }

  /** Has the leader hand over to the voter of this id (decimal). As {@link status} otherwise. */
  async moveLeader(targetID: string, deadline: number): Promise<void> {
    const request = { type: moveLeaderRequest, fields: { targetID }, decode: decodeNothing };
    await this.#call('MoveLeader', request, deadline);
  }

  /** The digest of all keys up to this revision (decimal). As {@link status} otherwise. */
  hashKv(revision: string, deadline: number): Promise<StoreHash> {
    return this.#call('HashKV', { type: hashRequest, fields: { revision }, decode: decodeHash }, deadline);
  }

  #call<Response>(method: string, request: Request<Response>, deadline: number): Promise<Response> {
    const { type, fields, decode } = request;
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest(
        `/etcdserverpb.Maintenance/${method}`,
        (sent: object) => Buffer.from(type.encode(type.fromObject(sent)).finish()),
        decode,
        fields,
        { deadline },
        (error: ServiceError | null, response?: Response) => {
          if (error !== null) reject(error);
          else if (response === undefined) reject(new Error(`${method} was answered without a message`));
          else resolve(response);
        },
      );
    });
  }
}

/** An empty message but for its header, which nobody asks for. */
function decodeNothing(): object {
  return {};
}

function decodeHash(bytes: Buffer): StoreHash {
  const decoded = hashResponse.toObject(hashResponse.decode(bytes), { longs: String, defaults: true });
  const { hash, compactRevision } = decoded as { hash: number; compactRevision: string };
  return { hash: hash.toString(16), compactRevision };
}

function decodeStatus(bytes: Buffer): RawStatus {
  const message = statusResponse.decode(bytes);
  const header = { cluster_id: '0', member_id: '0' };
  const decoded = statusResponse.toObject(message, { longs: String, defaults: true, arrays: true });
  return { ...decoded, header: { ...header, ...decoded['header'] } } as RawStatus;
}
