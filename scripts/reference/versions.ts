/** docs/reference/versions.md: which releases of etcd are run, and which way leads from one to another. */
import {
  DEFAULT_VERSION,
  DEPARTURES,
  DESCENTS,
  DOWNGRADE_REFERENCE,
  FLAGS_GONE,
  FLAGS_NEW,
  FLAGS_RENAMED,
  FLAGS_THAT_BECAME_GATES,
  FLOORS,
  GATES_NEW,
  NEWEST_KNOWN,
  ONE_MINOR_REFERENCE,
  type SupportedMinor,
  SUPPORTED_MINORS,
  VERSIONS_KNOWN_ON,
} from '../../src/api/versions/table.ts';
import { code, heading, markdownTable } from './markdown.ts';

const INTRODUCTION = `What this release of the operator knows of etcd's releases, read on ${VERSIONS_KNOWN_ON}. A patch release that is newer than
this table is run and said to be unknown; another minor is refused.
`;

const RULES = `
Minors are taken one at a time (${ONE_MINOR_REFERENCE}), and a minor is left
for the next only when every member says that the cluster and its data have arrived in it. Within a minor any release may be
gone to, newer or older, but none that a floor forbids.
`;

const DOWN = `etcd's own downgrade brings a cluster to the minor before (${DOWNGRADE_REFERENCE}), to a
release from which it could be upgraded again; see [upgrade](../operations/upgrade.md#back-to-an-older-minor).
`;

/** The page docs/reference/versions.md, as Markdown. */
export function versionsReference(): string {
  return [
    heading('Versions of etcd', 'src/api/versions/table.ts'),
    INTRODUCTION,
    '## Releases\n',
    `${releases()}\n`,
    '## Floors\n',
    `${floors()}\n`,
    '## From one minor to the next\n',
    RULES.trimStart(),
    `${departures()}\n`,
    '## Back to an older minor\n',
    DOWN,
    `${descents()}\n`,
    '## Flags that went away\n',
    `A member does not start with a flag that its version does not know. The operator writes flags for each version; variables in
\`spec.pod.etcdEnv\` that stand for a flag that is gone keep a cluster from going to that minor.\n`,
    `${flags()}\n`,
    `From 3.6 on these are known without \`experimental-\`: ${FLAGS_RENAMED.map(code).join(' ')}.\n`,
    `These became feature gates (\`ETCD_FEATURE_GATES\`), and 3.6 refuses both side by side:\n`,
    `${gates()}\n`,
  ].join('\n');
}

function releases(): string {
  const rows = SUPPORTED_MINORS.map(minor => [
    minor,
    code(NEWEST_KNOWN[minor]),
    NEWEST_KNOWN[minor] === DEFAULT_VERSION ? 'what a cluster gets that names no version' : '',
  ]);
  return markdownTable(['minor', 'newest known', ''], rows);
}

function descents(): string {
  const rows = DESCENTS.toReversed().map(({ from, to, reference }) => {
    const floor = DEPARTURES.find(departure => departure.from === to)?.floor ?? '';
    return [from, `${code(floor)} or a later ${to}`, unknownIn(from), reference];
  });
  return markdownTable(['from', 'to', 'not known there', 'described in'], rows);
}

/** Variables of flags and gates that the minor before does not know. */
function unknownIn(minor: SupportedMinor): string {
  const flags = FLAGS_NEW[minor].map(readable);
  const renamed = minor === '3.6' ? ['the flags without `experimental-` that are listed below'] : [];
  return [...flags, ...renamed, ...GATES_NEW[minor].map(gate => `the gate ${code(gate)}`)].join(', ');
}

function floors(): string {
  const rows = FLOORS.map(({ version, kind, reason, forbidden }) => [
    code(version),
    kind === 'dataLoss' ? 'data loss' : 'security',
    reason,
    forbidden === true ? 'not gone to' : 'warned of',
  ]);
  return markdownTable(['below', 'danger', 'what can happen', 'releases below are'], rows);
}

function departures(): string {
  const rows = DEPARTURES.map(({ from, to, floor, reason, reference, notWithAuth }) => [
    `${from} → ${to}`,
    code(floor),
    `${reason}${notWithAuth ? '; not while authentication is on' : ''}`,
    reference,
  ]);
  return markdownTable(['step', 'every member at least', 'why', 'source'], rows);
}

/** A pattern as users know it. */
function readable(pattern: RegExp): string {
  return code(
    pattern.source
      .replace(/^\^|\$$/g, '')
      .replace('(-.+)?', '*')
      .replace(/-$/, '-*'),
  );
}

function flags(): string {
  const rows = SUPPORTED_MINORS.map(minor => [minor, FLAGS_GONE[minor].map(readable).join(' ')]);
  return markdownTable(['gone in', 'flags'], rows);
}

function gates(): string {
  const rows = Object.entries(FLAGS_THAT_BECAME_GATES).map(([flag, gate]) => [
    code(`experimental-${flag}`),
    code(gate),
  ]);
  return markdownTable(['flag', 'gate'], rows);
}
