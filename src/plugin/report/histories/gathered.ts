/** The histories of a cluster's workflows, for a report. */
import { operationWorkflowId } from '../../../api/names.ts';
import type { EtcdCluster } from '../../../api/schemas/types.ts';
import { messageOf } from '../../../api/values/message-of.ts';
import type { Call } from '../../commands/command.ts';
import type { TarEntry } from '../tar.ts';
import { type Encrypted, readable } from './payloads.ts';
import { NotReached, reached } from './reached.ts';
import type { RunOfWorkflow } from './temporal.ts';

/** How many of the latest runs: the cluster's own workflow begins a new one every few days, and every operation is one. */
const RUNS = { cluster: 3, operation: 10 } as const;

export interface Histories {
  readonly entries: readonly TarEntry[];
  readonly missing: readonly string[];
}

/**
 * The latest runs of the workflow of the cluster, and of its operations. Texts that may be secrets are left out and added
 * to `secrets`. What cannot be had is said, and never ends the command.
 * @throws KubeError while the API server is away
 */
export async function historiesOf(
  call: Call,
  { cluster, operatorNamespace }: { readonly cluster: EtcdCluster; readonly operatorNamespace: string },
  secrets: Set<string>,
): Promise<Histories> {
  const workflowId = cluster.status?.workflowID;
  if (workflowId === undefined)
    return nothing('the status of the cluster names no workflow: the operator has not taken it up');
  // A server may quote what it refuses.
  const apiKey = call.io.env['TEMPORAL_API_KEY']?.trim();
  if (apiKey) secrets.add(apiKey);
  const stop = new AbortController();
  try {
    const until = AbortSignal.any([stop.signal, call.io.interrupted]);
    const where = await reached(call, operatorNamespace, until);
    const { readRuns } = await import('./temporal.ts');
    const workflows = [
      { workflowId, runs: RUNS.cluster },
      { workflowId: operationWorkflowId(workflowId), runs: RUNS.operation },
    ];
    const runs = await readRuns({ ...where, workflows }).catch((error: unknown) => {
      throw new NotReached(
        `Temporal at ${where.address} did not return them: ${messageOf(error)}${adviceFor(where)}`,
      );
    });
    if (runs.length === 0)
      return nothing(`Temporal's namespace ${where.namespace} knows no workflow ${workflowId}`);
    return filesOf(runs, secrets);
  } catch (error) {
    if (error instanceof NotReached) return nothing(error.message);
    throw error;
  } finally {
    stop.abort();
  }
}

const nothing = (why: string): Histories => ({ entries: [], missing: [`workflows: ${why}`] });

const adviceFor = ({ tls }: { readonly tls?: unknown }): string =>
  tls === false
    ? ''
    : '; for its certificates set TEMPORAL_TLS_SERVER_CA_CERT_PATH, TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH, for an API key TEMPORAL_API_KEY';

function filesOf(runs: readonly RunOfWorkflow[], secrets: Set<string>): Histories {
  const encrypted: Encrypted = { count: 0, keys: new Set() };
  const entries = runs.map(run => {
    const what = run.workflowId.endsWith('/operation') ? run.type : 'cluster';
    const time = run.started.replaceAll(/[:-]|\.\d+/g, '');
    return {
      name: `workflows/${what}-${time}-${run.runId.slice(0, 8)}.json`,
      text: `${JSON.stringify(readable(run, secrets, encrypted), undefined, 1)}\n`,
    };
  });
  const keys = [...encrypted.keys].join(', ') || 'without a name';
  const missing = [
    ...(encrypted.count === 0
      ? []
      : [
          `workflows: ${encrypted.count} payloads are encrypted (keys: ${keys}); the histories contain only what stands beside them, such as steps and times`,
        ]),
    ...runs
      .filter(({ isCut }) => isCut)
      .map(({ runId, events }) => `workflows: run ${runId} after its first ${events.length} events`),
  ];
  return { entries, missing };
}
