import type { EtcdRequest } from '../../api/schemas/types.ts';
import type { Call } from '../commands/command.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { failure } from '../failure.ts';
import { type Followed, followed } from '../followed.ts';
import { isOpen } from '../views/explain.ts';
import { pluginLine } from '../views/command-lines.ts';
import { field, type Line, toned } from '../views/lines.ts';

/** Waits until the request is finished, and shows what became of it. @throws Failure `timedOut` after `seconds` */
export function follow(call: Call, created: EtcdRequest, seconds: number): Promise<ExitCode> {
  const { session } = call;
  const { name } = created.metadata;
  const request: Followed<EtcdRequest> = {
    what: `etcdrequest/${name}`,
    look: async () => (await session.get('EtcdRequest', name)) ?? throwDeleted(name),
    progress: progressOf,
    verdict: found =>
      isOpen(found)
        ? undefined
        : {
            shown: { data: found, lines: verdictLines(found) },
            exit: found.status?.phase === 'Completed' ? EXIT.done : EXIT.refused,
          },
    again: pluginLine(session.where, 'requests', name),
  };
  return followed(call, request, seconds);
}

function throwDeleted(name: string): never {
  throw failure(
    `etcdrequest/${name} was deleted while it was waited for`,
    'What it has begun is not undone.',
  );
}

function progressOf({ status = {} }: EtcdRequest): string {
  return [status.phase || 'Pending', status.message ?? ''].filter(text => text !== '').join(': ');
}

function verdictLines({ metadata, status = {} }: EtcdRequest): readonly Line[] {
  const { phase = '', message = '', operation, workflowID, runID } = status;
  const tone = phase === 'Completed' ? 'good' : 'bad';
  return [
    [`etcdrequest/${metadata.name} `, toned(phase, tone), message === '' ? '' : `: ${message}`],
    ...(operation === undefined ? [] : [field('Operation', operation)]),
    ...(workflowID === undefined
      ? []
      : [field('Workflow', `${workflowID}${runID === undefined ? '' : `, run ${runID}`}`)]),
  ];
}
