/** Why a container ended, out of the end of its log. Pure. */
import { printable } from '../../api/values/printable.ts';

/** The kubelet keeps 2 KiB of a log: the first line of as much has lost its beginning. */
const KEPT = 2_000;
const GRAVE = ['error', 'fatal', 'panic'];

/**
 * The end of a container's log as it is shown to users and read as evidence: what etcd itself calls an error, once each
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
  const said = firstThatSays(
    harmless.flatMap(faultOf),
    harmless.flatMap(panicOf),
    stackless(harmless).flatMap(messageOf),
    functionsIn(harmless).slice(0, 1),
  );
  // Once more: what was escaped in a line of JSON is not any more.
  const shown = printable(said).trim().replace(QUOTED_VALUE, 'the value of $1 cannot be used');
  // A known cause is recognised in the stack as well, which may be all that is left.
  return knownCause([shown, ...functionsIn(harmless)]) ?? (shown || undefined);
}

/** The first of these that has anything to say, each line once. */
function firstThatSays(...saids: readonly (readonly string[])[]): string {
  return saids.map(said => [...new Set(said)].join('\n')).find(text => text.trim() !== '') ?? '';
}

/** What Go itself writes when a program ends by a fault, before the stacks of its goroutines. */
function panicOf(line: string): string[] {
  const [, said] = /^\s*((?:panic|fatal error): .*?)(?: \[recovered\].*)?$/.exec(line) ?? [];
  return said === undefined ? [] : [said];
}

/** A line of a stack: a function with its arguments, where it is, or whose goroutine it was. */
const FRAME = /^\s+\S+\.(?:go|s):\d+|^goroutine \d+ |^created by |^[\w./~@-]+\.\S+\(.*\)$|^panic\(\{/;

const stackless = (lines: readonly string[]): string[] =>
  lines.some(line => /\.go:\d+ \+0x[\da-f]+/.test(line))
    ? lines.filter(line => !isOfStack(line))
    : [...lines];

/** Also the one that the kubelet cut through. */
const isOfStack = (line: string): boolean => FRAME.test(line) || /\.(?:go|s):\d+ \+0x[\da-f]+/.test(line);

/** `etcdserver.v2ToV3Request failed`: etcd's own functions in a stack, the innermost first, without those that only pass on. */
function functionsIn(lines: readonly string[]): string[] {
  return lines.flatMap(line => {
    const [, name] = /^go\.etcd\.io\/(?:\S+\/)?(\w[\w-]*\.\S+)\(.*\)$/.exec(line) ?? [];
    return name === undefined || /^(?:schedule|zap)\./.test(name)
      ? []
      : [`a fault in ${name}; the log of the container says more`];
  });
}

/** Causes that etcd names in words that only its authors understand. */
const KNOWN_CAUSES: readonly (readonly [said: RegExp, words: string])[] = [
  [
    /disallowed (?:custom content in v2store|v2 WAL)|v2ToV3Request|assertNoV2StoreContent/,
    'the data contains requests or keys of the v2 API, with which etcd 3.6 and later do not start: delete the keys of the v2 API with the version that ran before, have the member write a snapshot of its log after that (etcd does so every snapshot-count requests), and then upgrade',
  ],
];

function knownCause(said: readonly string[]): string | undefined {
  return KNOWN_CAUSES.find(([pattern]) => said.some(text => pattern.test(text)))?.[1];
}

/** What a line of etcd's log says without its other fields, in either of its formats; a line of anything else as it is. */
function messageOf(line: string): string[] {
  if (!line.startsWith('{')) return [line.split('\t{')[0] ?? ''];
  return errorsIn(line, () => true);
}

/** etcd quotes a value that it cannot read, and then the parser does so, too (pkg/flags/flag.go of etcd). */
const QUOTED_VALUE = /invalid value \\?".*?\\?" for (ETCD_\w+):.*/g;

/** `message: error` of a line of etcd's JSON log that reports a fault. */
function faultOf(line: string): string[] {
  return line.startsWith('{') ? errorsIn(line, level => GRAVE.includes(level)) : [];
}

function errorsIn(line: string, isMeant: (level: string) => boolean): string[] {
  try {
    const { level, msg, error, panic } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    if (!isMeant(String(level))) return [];
    return [[msg, error, panic].filter(said => typeof said === 'string').join(': ')];
  } catch {
    return [];
  }
}
