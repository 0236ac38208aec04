/** Why a container ended, out of the end of its log. Pure. */
import { printable } from '../../api/values/printable.ts';

/** The kubelet keeps 2 KiB of a log: the first line of as much has lost its beginning. */
const KEPT = 2_000;
const GRAVE = ['error', 'fatal', 'panic'];

/**
 * The end of a container's log as it is shown to people and read as evidence: what etcd itself calls an error, once each
 * and without stack traces, which would push the cause out of any text of bounded length; else what its lines are about.
 * Undefined when nothing of it can be shown.
 *
 * Never what etcd logs beside its messages: requests with the keys that clients chose. Never the lines in which it quotes its
 * environment, values and all (pkg/flags/flag.go of etcd): values may come from Secrets, and this text goes into status, events
 * and histories.
 */
export function terminationReason(message: string | undefined): string | undefined {
  if (message === undefined) return undefined;
  const lines = printable(message)
    .split('\n')
    .slice(message.length < KEPT ? 0 : 1);
  const harmless = lines.filter(line => !/environment[- ]variable/.test(line));
  const faults = new Set(harmless.flatMap(faultOf));
  const said = faults.size > 0 ? faults : new Set(harmless.flatMap(messageOf));
  // Once more: what was escaped in a line of JSON is not any more.
  const shown = printable([...said].join('\n')).trim();
  return shown.replace(QUOTED_VALUE, 'the value of $1 cannot be used') || undefined;
}

/** What a line of etcd's log says without its other fields, in either of its formats; a line of anything else as it is. */
function messageOf(line: string): string[] {
  if (!line.startsWith('{')) return [line.split('\t{')[0] ?? ''];
  return errorsIn(line, () => true);
}

/** etcd quotes a value that it cannot read, and then the parser does so, too (pkg/flags/flag.go of etcd). */
const QUOTED_VALUE = /invalid value \\?".*?\\?" for (ETCD_\w+):.*/g;

/** `message: error` of a line of etcd's JSON log that tells a fault. */
function faultOf(line: string): string[] {
  return line.startsWith('{') ? errorsIn(line, level => GRAVE.includes(level)) : [];
}

function errorsIn(line: string, isMeant: (level: string) => boolean): string[] {
  try {
    const { level, msg, error } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    if (!isMeant(String(level))) return [];
    return [[msg, error].filter(said => typeof said === 'string').join(': ')];
  } catch {
    return [];
  }
}
