/** Writes a report of one cluster for support: a compressed archive without secrets. */
import { writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { clusterNameOf } from '../commands/cluster-name.ts';
import type { Call } from '../commands/command.ts';
import { EXIT, type ExitCode } from '../exit-codes.ts';
import { failure } from '../failure.ts';
import { need } from '../not-found.ts';
import { gathered, LOG_LINES } from './gathered.ts';
import { tarOf } from './tar.ts';

/** Where the operator is installed unless the flag says otherwise. */
const OPERATOR_NAMESPACE = 'etcd-operator';

/** Runs the command. @throws Failure, KubeError */
export async function report(call: Call): Promise<ExitCode> {
  const { session, flags, io } = call;
  const name = clusterNameOf(call);
  const cluster = await need(session, 'EtcdCluster', name);
  const time = new Date(io.now()).toISOString();
  const folder = `etcd-report-${name}`;
  const file = flags.value('to') ?? `${folder}-${time.replaceAll(/[:.]/g, '')}.tar.gz`;
  const operatorNamespace = flags.value('operator-namespace') ?? OPERATOR_NAMESPACE;
  const { entries, missing } = await gathered({ call, cluster, operatorNamespace });
  const about = [
    `EtcdCluster ${name} of namespace ${session.where.namespace}, ${time}`,
    `Logs: the last ${LOG_LINES} lines of each. Workflows: the latest runs.`,
    'Values of variables and annotations of others were left out; Secrets were not read.',
    ...missing.map(text => `Missing: ${text}`),
    '',
  ];
  const all = [{ name: 'about.txt', text: about.join('\n') }, ...entries];
  const archive = gzipSync(
    tarOf(
      all.map(entry => ({ ...entry, name: `${folder}/${entry.name}` })),
      io.now() / 1_000,
    ),
  );
  try {
    // Nobody else may read it: names of keys can stand in logs.
    writeFileSync(file, archive, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw failure(
      `${file} cannot be written: ${(error as NodeJS.ErrnoException).code ?? 'unknown error'}`,
      'Name another file with --to FILE',
    );
  }
  for (const text of missing) io.err(`not contained: ${text}\n`);
  const data = { file, bytes: archive.length, contains: all.map(entry => entry.name), missing };
  call.show({
    data,
    lines: [
      [`${file} written: ${all.length} files, ${archive.length} bytes`],
      ['Read it before you send it: names of keys can stand in logs.'],
    ],
  });
  return EXIT.done;
}
