/** Liveness, readiness and metrics over HTTP. */
import { createServer, type ServerResponse } from 'node:http';
import type { Connection } from '@temporalio/client';
import { grpcCode } from '../../watcher/temporal/client.ts';
import { grpcStatus } from '../temporal/connection.ts';
import { isRefused } from '../temporal/refusal.ts';
import { boundConnections, type ConnectionLimits, PAGE_LIMITS, serverOptions } from './connections.ts';
import { listen, type PageServer } from './serving.ts';

/** What is wrong now, one short line each; empty: all is well. */
export type Check = () => Promise<readonly string[]> | readonly string[];

export interface Checks {
  /**
   * Wrong only when a restart would help. That an answer comes at all shows that the event loop is alive; the
   * probe's timeout says how long it may be blocked.
   */
  readonly live: Check;
  /** Wrong while this replica cannot do its part. Temporal or the apiserver being away is not cured by a restart. */
  readonly ready: Check;
}

/** The parts that health depends on, as they are now. */
export interface Parts {
  /** State of Temporal's worker; undefined before there is one, or without the worker role. */
  readonly workerState: string | undefined;
  readonly hasWorkerRole: boolean;
  /** True while this replica holds the lease. */
  readonly leading: boolean;
  readonly watcherSynced: boolean;
  readonly stopping: boolean;
}

/**
 * @param parts read on every probe
 * @param temporalServing what is wrong with Temporal
 */
export function operatorChecks(parts: () => Parts, temporalServing: Check): Checks {
  return {
    live() {
      const { workerState, stopping } = parts();
      // Before the first connection there is no worker, and waiting for Temporal is no reason to be restarted.
      const dead = workerState === 'FAILED' || (workerState === 'STOPPED' && !stopping);
      return dead ? [`the Temporal worker is ${workerState}`] : [];
    },
    async ready() {
      const { workerState, hasWorkerRole, leading, watcherSynced, stopping } = parts();
      const problems = [...(await temporalServing())];
      if (stopping) problems.push('shutting down');
      if (hasWorkerRole && workerState !== 'RUNNING') {
        problems.push(`the Temporal worker is ${workerState ?? 'waiting for Temporal'}`);
      }
      if (leading && !watcherSynced) problems.push('the watcher has not listed all resources yet');
      return problems;
    },
  };
}

const workflowService = 'temporal.api.workflowservice.v1.WorkflowService';
const serving = 1;

/**
 * Asks Temporal's frontend; a worker's own state stays RUNNING while its server is dead.
 * @param refused whether other calls are refused: many servers report to every client that they serve
 */
export function temporalServing(
  current: () => Connection,
  refused: () => boolean = () => false,
  deadlineMs = 2_000,
): Check {
  return async () => {
    const connection = current();
    try {
      const { status } = await connection.withDeadline(Date.now() + deadlineMs, () =>
        connection.healthService.check({ service: workflowService }),
      );
      if (status !== serving) return [`Temporal answers that it is not serving (status ${status})`];
    } catch (error) {
      const failure = await failureWithoutHealth(connection, error, deadlineMs);
      if (isRefused(failure)) return [REFUSED];
      // The text names addresses; that there was no answer is all that a probe needs.
      if (failure !== undefined) return ['Temporal does not answer'];
    }
    return refused() ? [REFUSED] : [];
  };
}

/**
 * What is left of a failed question for health: what stands before a frontend may pass on Temporal's own services only, so one of
 * those is called before the failure counts. Undefined: that was answered.
 */
async function failureWithoutHealth(
  connection: Connection,
  error: unknown,
  deadlineMs: number,
): Promise<unknown> {
  if (grpcCode(error) !== grpcStatus.unimplemented) return error;
  const call = () => connection.workflowService.getSystemInfo({});
  return connection.withDeadline(Date.now() + deadlineMs, call).then(
    () => undefined,
    (failure: unknown) => failure,
  );
}

const REFUSED = "Temporal refuses the operator's API key or certificate: the log says what to do";

/** A page of plain text or metrics. */
interface Page {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
}

export type Pages = Readonly<Record<string, () => Promise<Page>>>;

/** /healthz and /readyz. */
export function healthPages(checks: Checks): Pages {
  const page = (check: Check) => async (): Promise<Page> => {
    const problems = await check();
    const text = problems.length === 0 ? 'ok\n' : `${problems.join('\n')}\n`;
    return { status: problems.length === 0 ? 200 : 503, contentType: 'text/plain', text };
  };
  return { '/healthz': page(checks.live), '/readyz': page(checks.ready) };
}

/** /metrics. */
export function metricsPages(metrics: { readonly contentType: string; text(): Promise<string> }): Pages {
  return {
    '/metrics': async () => ({ status: 200, contentType: metrics.contentType, text: await metrics.text() }),
  };
}

export interface ServingOptions {
  /** What goes wrong with the listener itself while it serves. */
  readonly onTrouble?: (error: Error) => void;
  readonly limits?: ConnectionLimits;
}

/**
 * Serves pages to GET, to any client and whatever it sends: no request ends the process or keeps others from being answered.
 * @throws when the port is taken
 */
export async function servePages(
  port: number,
  pages: Pages,
  { onTrouble = () => {}, limits = PAGE_LIMITS }: ServingOptions = {},
): Promise<PageServer> {
  const shared = new Map(Object.entries(pages).map(([path, page]) => [path, once(page)]));
  const server = createServer(serverOptions(limits), (request, response) => {
    if (request.socket.destroyed) return;
    const page = request.method === 'GET' ? shared.get(pathOf(request.url) ?? '') : undefined;
    if (page === undefined) {
      const text = `try ${[...shared.keys()].join(' ')}\n`;
      return respond(response, { status: 404, contentType: 'text/plain', text });
    }
    page().then(
      found => respond(response, found),
      () => respond(response, { status: 500, contentType: 'text/plain', text: 'failed\n' }),
    );
  });
  boundConnections(server, limits, onTrouble);
  return listen(server, port);
}

/** The path of a request, which may also name a host (RFC 9112, 3.2.2); undefined for what is no address, such as `//`. */
function pathOf(url: string | undefined): string | undefined {
  return URL.parse(url ?? '/', 'http://localhost')?.pathname;
}

/** Who asks while the page is being made is given the same one: many who ask cost as much as one. */
function once(page: () => Promise<Page>): () => Promise<Page> {
  let making: Promise<Page> | undefined;
  return () => {
    making ??= (async () => page())().finally(() => (making = undefined));
    return making;
  };
}

function respond(response: ServerResponse, page: Page): void {
  response.writeHead(page.status, { 'content-type': page.contentType });
  response.end(page.text);
}
