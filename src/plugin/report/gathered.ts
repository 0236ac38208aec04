/** Gathers what support asks for. What cannot be had is said, and the rest is gathered all the same. */
import { stringify } from 'yaml';
import { API_VERSION, LABEL_CLUSTER } from '../../api/names.ts';
import type { EtcdCluster } from '../../api/schemas/types.ts';
import { KubeError } from '../../kube/errors.ts';
import type { KindRef, KubeObject, ListOptions } from '../../kube/port.ts';
import { createScrubber } from '../../telemetry/scrub.ts';
import type { Call } from '../commands/command.ts';
import { isPassing } from '../kube-failures.ts';
import { metricsPage } from '../members/metrics-page.ts';
import { reach } from '../views/command-lines.ts';
import { cleaned, spellings } from './cleaned.ts';
import { withoutEnvironment } from './environment.ts';
import { historiesOf } from './histories/gathered.ts';
import type { TarEntry } from './tar.ts';

/** Lines of each log. */
export const LOG_LINES = 2_000;

export interface Gathered {
  readonly entries: readonly TarEntry[];
  /** What could not be had, each as a sentence. */
  readonly missing: readonly string[];
}

interface Asked {
  readonly call: Call;
  readonly cluster: EtcdCluster;
  readonly operatorNamespace: string;
}

/** Everything of one cluster, without secrets. @throws KubeError while the API server is away */
export async function gathered(asked: Asked): Promise<Gathered> {
  const missing: string[] = [];
  const objects = await resources(asked, missing);
  const secrets = new Set<string>();
  const files = [...objects].map(([file, items]) => ({
    name: `resources/${file}.yaml`,
    text: items.map(item => `---\n${stringify(cleaned(item, secrets), { lineWidth: 0 })}`).join(''),
  }));
  const pods = (objects.get('pods') ?? []).map(({ metadata }) => metadata.name);
  const texts = await textsOf(asked, pods, missing);
  const histories = await historiesOf(asked.call, asked, secrets);
  missing.push(...histories.missing);
  // Of all texts before any of them is scrubbed: what one contains, another may repeat.
  const all = [...files, ...texts, ...histories.entries].map(({ name, text }) => ({
    name,
    text: withoutEnvironment(text, secrets),
  }));
  const scrub = createScrubber(spellings(secrets));
  const entries = all.map(({ name, text }) => ({ name, text: scrub(text) }));
  return { entries, missing: missing.map(scrub) };
}

const CUSTOM = (kind: string): KindRef => ({ apiVersion: API_VERSION, kind });

async function resources({ call, cluster }: Asked, missing: string[]): Promise<Map<string, KubeObject[]>> {
  const { name } = cluster.metadata;
  const labelSelector = `${LABEL_CLUSTER}=${name}`;
  const isOf = ({ spec }: KubeObject & { spec?: unknown }): boolean => {
    const { clusterRef, etcdCluster, backupRef } = (spec ?? {}) as Record<
      string,
      { name?: string } | undefined
    >;
    return (
      [clusterRef?.name, etcdCluster?.name].includes(name) ||
      (backupRef !== undefined && clusterRef === undefined)
    );
  };
  const isEventOf = (event: KubeObject): boolean => {
    const { name: about = '' } = (event['involvedObject'] ?? {}) as { name?: string };
    return about === name || about.startsWith(`${name}-`);
  };
  const rows: readonly [string, KindRef, ListOptions, (object: KubeObject) => boolean][] = [
    ['etcdclusters', CUSTOM('EtcdCluster'), {}, ({ metadata }) => metadata.name === name],
    ['etcdbackups', CUSTOM('EtcdBackup'), {}, isOf],
    ['etcdrestores', CUSTOM('EtcdRestore'), {}, isOf],
    ['etcdrequests', CUSTOM('EtcdRequest'), {}, isOf],
    ['pods', { apiVersion: 'v1', kind: 'Pod' }, { labelSelector }, () => true],
    ['claims', { apiVersion: 'v1', kind: 'PersistentVolumeClaim' }, { labelSelector }, () => true],
    ['services', { apiVersion: 'v1', kind: 'Service' }, { labelSelector }, () => true],
    ['budgets', { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget' }, { labelSelector }, () => true],
    ['events', { apiVersion: 'v1', kind: 'Event' }, {}, isEventOf],
  ];
  const { namespace } = call.session.where;
  const found = new Map<string, KubeObject[]>();
  for (const [file, kind, options, isWanted] of rows) {
    try {
      const { items } = await call.session.kube.list(kind, { namespace, ...options });
      found.set(file, items.filter(isWanted));
    } catch (error) {
      const passes: boolean = isPassing(error);
      if (passes || !(error instanceof KubeError)) throw error;
      missing.push(`${file}: ${error.message}`);
    }
  }
  return found;
}

/** Logs and metrics, by kubectl. */
async function textsOf(
  { call, operatorNamespace }: Asked,
  pods: readonly string[],
  missing: string[],
): Promise<readonly TarEntry[]> {
  const { session, io } = call;
  const tail = `--tail=${LOG_LINES}`;
  const here = reach(session.where);
  const there = reach({ ...session.where, namespace: operatorNamespace });
  const rows: readonly [string, readonly string[]][] = [
    ...pods.flatMap((pod): [string, readonly string[]][] => [
      [`logs/${pod}.log`, ['logs', ...here, pod, '-c', 'etcd', tail]],
      [`logs/${pod}-before.log`, ['logs', ...here, pod, '-c', 'etcd', '--previous', tail]],
      [`metrics/${pod}.txt`, metricsPage(session.where, pod)],
    ]),
    ['logs/operator.log', ['logs', ...there, '-l', 'app.kubernetes.io/name=etcd-operator', '--prefix', tail]],
    ['versions.txt', ['version', ...here]],
  ];
  const entries: TarEntry[] = [];
  for (const [name, args] of rows) {
    const { code, out, err } = await io.capture('kubectl', args);
    if (code === 0) entries.push({ name, text: out });
    else if (!name.endsWith('-before.log')) missing.push(`${name}: ${err.trim().split('\n').at(-1) ?? ''}`);
  }
  return entries;
}
