/**
 * The part of Temporal's frontend that serves past workflows, over real gRPC: a list of runs, and the pages of their histories.
 * Each namespace is there, with all search attributes, and no workflow runs.
 */
import { Server, ServerCredentials, type UntypedServiceImplementation } from '@grpc/grpc-js';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import proto from '@temporalio/proto';

const api = proto.temporal.api.workflowservice.v1;
const SERVICE = '/temporal.api.workflowservice.v1.WorkflowService';

export interface RecordedRun {
  readonly workflowId: string;
  readonly runId: string;
  readonly type: string;
  /** Events in Temporal's JSON form. */
  readonly events: readonly object[];
}

interface Message<T> {
  decode(bytes: Uint8Array): T;
}

export class TemporalFrontend {
  readonly address: string;
  /** What is asked for, by namespace and query. */
  readonly queries: string[] = [];
  /** How many events a page has. */
  pageSize = 2;
  runs: readonly RecordedRun[] = [];
  readonly #server: Server;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.address = `127.0.0.1:${port}`;
  }

  static async start(): Promise<TemporalFrontend> {
    const server = new Server();
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      );
    });
    const frontend = new TemporalFrontend(server, port);
    frontend.#serve();
    return frontend;
  }

  stop(): void {
    this.#server.forceShutdown();
  }

  #serve(): void {
    const handlers: UntypedServiceImplementation = {};
    const definition: Record<string, object> = {};
    const answer = <T>(name: string, request: Message<T>, how: (asked: T) => Uint8Array): void => {
      definition[name] = {
        path: `${SERVICE}/${name}`,
        requestStream: false,
        responseStream: false,
        requestSerialize: (bytes: Buffer) => bytes,
        requestDeserialize: (bytes: Buffer) => request.decode(bytes),
        responseSerialize: (bytes: Uint8Array) => Buffer.from(bytes),
        responseDeserialize: (bytes: Buffer) => bytes,
      };
      handlers[name] = (
        call: { request: T },
        done: (error: { code: number; details: string } | null, answer?: Uint8Array) => void,
      ) => {
        try {
          done(null, how(call.request));
        } catch (error) {
          done({ code: 5, details: (error as Error).message });
        }
      };
    };
    answer('GetSystemInfo', api.GetSystemInfoRequest, () => api.GetSystemInfoResponse.encode({}).finish());
    answer('DescribeNamespace', api.DescribeNamespaceRequest, ({ namespace: name }) =>
      api.DescribeNamespaceResponse.encode({ namespaceInfo: { name, id: `id of ${name}` } }).finish(),
    );
    answer('CountWorkflowExecutions', api.CountWorkflowExecutionsRequest, () =>
      api.CountWorkflowExecutionsResponse.encode({}).finish(),
    );
    answer('ListWorkflowExecutions', api.ListWorkflowExecutionsRequest, asked => this.#list(asked));
    answer('GetWorkflowExecutionHistory', api.GetWorkflowExecutionHistoryRequest, asked => this.#page(asked));
    answer('SignalWorkflowExecution', api.SignalWorkflowExecutionRequest, () => {
      throw new Error('workflow execution not found');
    });
    this.#server.addService(definition as never, handlers);
  }

  #list({
    namespace,
    query,
  }: proto.temporal.api.workflowservice.v1.IListWorkflowExecutionsRequest): Uint8Array {
    this.queries.push(`${namespace}: ${query}`);
    const found = this.runs.filter(({ workflowId }) => query === `WorkflowId = '${workflowId}'`);
    const executions = found.map(({ workflowId, runId, type }) => ({
      execution: { workflowId, runId },
      type: { name: type },
      status: 2,
      startTime: { seconds: 1_795_435_200 as never, nanos: 0 },
    }));
    return api.ListWorkflowExecutionsResponse.encode({ executions }).finish();
  }

  #page(asked: proto.temporal.api.workflowservice.v1.IGetWorkflowExecutionHistoryRequest): Uint8Array {
    const run = this.runs.find(({ runId }) => runId === asked.execution?.runId);
    if (run === undefined) throw new Error('workflow execution not found');
    const begin = Number(Buffer.from(asked.nextPageToken ?? []).toString() || 0);
    const end = begin + this.pageSize;
    const history = historyFromJSON({ events: run.events.slice(begin, end) });
    const nextPageToken = end < run.events.length ? Buffer.from(String(end)) : new Uint8Array();
    return api.GetWorkflowExecutionHistoryResponse.encode({ history, nextPageToken }).finish();
  }
}
