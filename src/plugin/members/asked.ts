/** Asks all members side by side for what the status deliberately does not contain (decision 78). */
import { printable } from '../../api/values/printable.ts';
import type { EtcdCluster } from '../../api/schemas/types.ts';
import type { Call } from '../commands/command.ts';
import type { Captured } from '../io.ts';
import { missingRight } from '../kube-failures.ts';
import { type Figures, figuresOf, withLag } from './figures.ts';
import { metricsPage } from './metrics-page.ts';

/** How long a member may take to answer. */
const ANSWER_SECONDS = 3;
/** kubectl ends by itself before this. */
const CAPTURE_MS = (ANSWER_SECONDS + 2) * 1_000;
/** Of an error that somebody else words. */
const LONGEST_REASON = 200;

export interface MemberAsked extends Figures {
  readonly name: string;
  /** Raft entries behind the most advanced member that answered. */
  readonly lag?: number;
}

interface Unanswered {
  readonly members: readonly string[];
  /** Such as `no answer within 3 s`. */
  readonly reason: string;
}

/** What members said when they were asked. It is no part of the resource. */
export interface AskedNow {
  /** RFC 3339. */
  readonly at: string;
  /** Those that answered. */
  readonly members: readonly MemberAsked[];
  readonly notAnswered: readonly Unanswered[];
}

/** Asks each member that has a pod. It takes seconds at most, and never fails. */
export async function askedNow({ session, io }: Call, { status = {} }: EtcdCluster): Promise<AskedNow> {
  const { ready = [], unready = [] } = status.members ?? {};
  const at = new Date(io.now()).toISOString();
  const timeout = `--request-timeout=${ANSWER_SECONDS}s`;
  const answers = await Promise.all(
    [...ready, ...unready].toSorted().map(async name => {
      const args = [...metricsPage(session.where, name), timeout];
      const captured = await io.capture('kubectl', args, { timeoutMs: CAPTURE_MS });
      return { name, ...answerOf(captured) };
    }),
  );
  const answered = answers.flatMap(({ name, figures }) =>
    figures === undefined ? [] : [{ name, ...figures }],
  );
  return { at, members: withLag(answered), notAnswered: byReason(answers) };
}

interface Answer {
  readonly figures?: Figures;
  readonly reason?: string;
}

function answerOf({ code, out, err, timedOut }: Captured): Answer {
  if (code !== 0) return { reason: timedOut === true ? SILENT : reasonOf(err) };
  const figures = figuresOf(out);
  return Object.keys(figures).length === 0 ? { reason: 'its answer is none of etcd' } : { figures };
}

const SILENT = `no answer within ${ANSWER_SECONDS} s`;

/** Of what kubectl says, only the last line is about the failure. */
function reasonOf(err: string): string {
  const said = printable(err.trim().split('\n').at(-1) ?? '');
  const right = missingRight(said);
  if (right !== undefined) return right;
  if (/deadline exceeded|Client\.Timeout|request canceled|i\/o timeout/.test(said)) return SILENT;
  return said.slice(0, LONGEST_REASON) || 'kubectl failed';
}

function byReason(answers: readonly ({ readonly name: string } & Answer)[]): readonly Unanswered[] {
  const found = new Map<string, string[]>();
  for (const { name, reason } of answers)
    if (reason !== undefined) found.set(reason, [...(found.get(reason) ?? []), name]);
  return [...found].map(([reason, members]) => ({ members, reason }));
}
