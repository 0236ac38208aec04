/**
 * Serves etcd in memory (test/fakes/etcd/etcd.ts) to clients that dial real sockets: each member on an address of its own of the
 * loopback network, on etcd's own ports. As much of etcd's API as an operator asks a healthy cluster for, which does nothing.
 */
import { once } from 'node:events';
import { createServer, type Server as HttpServer } from 'node:http';
import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js';
import protobuf from 'protobufjs';
import { CLIENT_PORT, METRICS_PORT } from '../../../src/api/names.ts';
import type { EtcdMember } from '../../../src/etcd/port.ts';
import type { FakeEtcd } from '../../../test/fakes/etcd/etcd.ts';

type Fields = Record<string, { readonly type: string; readonly id: number; readonly rule?: 'repeated' }>;

/** Field numbers are etcd's (api/etcdserverpb/rpc.proto). */
const HEADER = {
  cluster_id: { type: 'uint64', id: 1 },
  member_id: { type: 'uint64', id: 2 },
  revision: { type: 'int64', id: 3 },
} satisfies Fields;
const header = { type: 'Header', id: 1 };
const types = protobuf.Root.fromJSON({
  nested: {
    Header: { fields: HEADER },
    Member: {
      fields: {
        ID: { type: 'uint64', id: 1 },
        name: { type: 'string', id: 2 },
        peerURLs: { type: 'string', id: 3, rule: 'repeated' },
        clientURLs: { type: 'string', id: 4, rule: 'repeated' },
        isLearner: { type: 'bool', id: 5 },
      } satisfies Fields,
    },
    StatusResponse: {
      fields: {
        header,
        version: { type: 'string', id: 2 },
        dbSize: { type: 'int64', id: 3 },
        leader: { type: 'uint64', id: 4 },
        raftIndex: { type: 'uint64', id: 5 },
        raftTerm: { type: 'uint64', id: 6 },
        raftAppliedIndex: { type: 'uint64', id: 7 },
        errors: { type: 'string', id: 8, rule: 'repeated' },
        dbSizeInUse: { type: 'int64', id: 9 },
        isLearner: { type: 'bool', id: 10 },
      } satisfies Fields,
    },
    MemberListResponse: {
      fields: { header, members: { type: 'Member', id: 2, rule: 'repeated' } } satisfies Fields,
    },
    RangeResponse: { fields: { header } satisfies Fields },
  },
});

const decimal = (hex: string | undefined): string =>
  hex === undefined ? '0' : BigInt(`0x${hex}`).toString();

/** What each method answers; the fields of its response. */
const ANSWERS: Readonly<
  Record<string, { readonly response: string; readonly ask: (member: EtcdMember) => Promise<object> }>
> = {
  '/etcdserverpb.Maintenance/Status': {
    response: 'StatusResponse',
    ask: async member => {
      const { memberId, clusterId, leaderId, ...said } = await member.status();
      const ids = { cluster_id: decimal(clusterId), member_id: decimal(memberId) };
      return { ...said, header: ids, leader: decimal(leaderId) };
    },
  },
  '/etcdserverpb.Cluster/MemberList': {
    response: 'MemberListResponse',
    ask: async member => {
      const { clusterId, members } = await member.memberList();
      const listed = members.map(({ id, name, peerUrls, clientUrls, isLearner }) => ({
        ID: decimal(id),
        name,
        peerURLs: peerUrls,
        clientURLs: clientUrls,
        isLearner,
      }));
      return { header: { cluster_id: decimal(clusterId) }, members: listed };
    },
  },
  '/etcdserverpb.KV/Range': {
    response: 'RangeResponse',
    ask: async member => ({ header: { revision: (await member.linearizableRead()).revision } }),
  },
};

/** etcd never ends a connection because it is idle (embed/etcd.go, serveMetrics: http.Serve without timeouts). */
const KEEP = { keepAliveTimeout: 0 };

export class SimulatedMembers {
  readonly #etcd: FakeEtcd;
  readonly #server = new Server();
  /** Health pages by address. */
  readonly #pages = new Map<string, HttpServer>();

  constructor(etcd: FakeEtcd) {
    this.#etcd = etcd;
    for (const [path, { response, ask }] of Object.entries(ANSWERS)) {
      const type = types.lookupType(response);
      const serialize = (fields: object) => Buffer.from(type.encode(type.fromObject(fields)).finish());
      const deserialize = (bytes: Buffer) => bytes;
      const handle = (call: ServerUnaryCall<Buffer, object>, done: sendUnaryData<object>): void => {
        const [host = ''] = call.getHost().split(':');
        this.#ask(host, ask).then(
          fields => done(null, fields),
          (error: unknown) => done({ code: status.UNAVAILABLE, details: String(error) }),
        );
      };
      this.#server.register(path, handle, serialize, deserialize, 'unary');
    }
  }

  /** Makes what the fake etcd runs at this address answer there. */
  async serve(host: string): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const bound = (error: Error | null) => (error === null ? resolve() : reject(error));
      this.#server.bindAsync(`${host}:${CLIENT_PORT}`, ServerCredentials.createInsecure(), bound);
    });
    const page = createServer(KEEP, (_, response) => void response.end('{"health":"true","reason":""}'));
    this.#pages.set(host, page);
    page.listen(METRICS_PORT, host);
    await once(page, 'listening');
  }

  /** Nobody answers at this address any more. */
  async leave(host: string): Promise<void> {
    const page = this.#pages.get(host);
    if (page === undefined) return;
    this.#pages.delete(host);
    this.#server.unbind(`${host}:${CLIENT_PORT}`);
    page.close();
    page.closeAllConnections();
  }

  async stop(): Promise<void> {
    this.#server.forceShutdown();
    await Promise.all([...this.#pages.keys()].map(host => this.leave(host)));
  }

  async #ask(host: string, ask: (member: EtcdMember) => Promise<object>): Promise<object> {
    const member = this.#etcd.member({ host, port: CLIENT_PORT, serverName: host });
    try {
      return await ask(member);
    } finally {
      member.close();
    }
  }
}
