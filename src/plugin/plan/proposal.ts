/** A specification that somebody considers: read from a file, and judged by the API server without being stored. */
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { API_VERSION } from '../../api/names.ts';
import { isForbidden } from '../../kube/errors.ts';
import type { KubeObject } from '../../kube/port.ts';
import type { Call } from '../commands/command.ts';
import { failure, usageFailure } from '../failure.ts';
import { need } from '../not-found.ts';
import type { Session } from '../session.ts';
import { applied } from './applied.ts';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** A cluster as it is, and as it would be. */
export interface Proposal {
  /** Undefined: there is none yet. */
  readonly stored: KubeObject | undefined;
  /** With the defaults of the API server, if that was asked. */
  readonly proposed: KubeObject;
  /** Where the specification is from. */
  readonly source: string;
  /** What could not be found out about it, each as a sentence. */
  readonly notSeen: readonly string[];
}

/** The cluster NAME as --filename proposes it; as it is stored without the flag. @throws Failure, KubeError when the API server refuses it */
export async function proposalOf(call: Call, name: string): Promise<Proposal> {
  const { session, flags } = call;
  const { namespace } = session.where;
  const file = flags.value('filename');
  const manifest = file === undefined ? undefined : manifestIn(file, { name, namespace });
  const stored = await session.kube.get({ apiVersion: API_VERSION, kind: 'EtcdCluster', namespace, name });
  if (manifest === undefined) {
    if (stored === undefined) await need(session, 'EtcdCluster', name);
    return {
      stored,
      proposed: stored as KubeObject,
      source: 'the specification that is applied',
      notSeen: [],
    };
  }
  const source = `the specification in ${file === '-' ? 'the standard input' : file}, as kubectl apply would make it`;
  const wanted = stored === undefined ? fresh(manifest, namespace) : merged(stored, manifest);
  return { stored, source, ...(await judged(session, stored, wanted)) };
}

/** The one manifest in a file that is meant. */
function manifestIn(file: string, of: { readonly name: string; readonly namespace: string }): KubeObject {
  const documents = objectsIn(file);
  const clusters = documents.filter(({ kind }) => kind === 'EtcdCluster');
  const found = clusters.find(({ metadata }) => metadata?.name === of.name);
  if (found === undefined) {
    const names = clusters.map(({ metadata }) => metadata?.name ?? '(without a name)').join(', ');
    throw usageFailure(`${file} contains no EtcdCluster ${of.name}`, `It contains: ${names || 'none'}`);
  }
  const { namespace = of.namespace } = found.metadata;
  if (namespace !== of.namespace)
    throw usageFailure(
      `the EtcdCluster ${of.name} in ${file} is of namespace ${namespace}, and ${of.namespace} was asked for`,
      `Add -n ${namespace}`,
    );
  if (found.apiVersion !== API_VERSION)
    throw usageFailure(`the apiVersion in ${file} is ${found.apiVersion}: write ${API_VERSION}`);
  return found;
}

function objectsIn(file: string): readonly KubeObject[] {
  let text: string;
  try {
    text = readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw failure(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown error'}`);
  }
  const documents = parseAllDocuments(text);
  const [fault] = documents.flatMap(({ errors }) => errors);
  if (fault !== undefined) throw usageFailure(`${file} is no YAML: ${fault.message.split('\n')[0] ?? ''}`);
  return documents
    .map(document => document.toJS() as unknown)
    .filter((value): value is KubeObject => typeof value === 'object' && value !== null && 'kind' in value);
}

function fresh(
  { apiVersion, kind, metadata, spec }: KubeObject & { spec?: unknown },
  namespace: string,
): KubeObject {
  return { apiVersion, kind, metadata: { ...metadata, namespace }, spec: spec ?? {} };
}

/** Of the metadata nothing is taken over: a plan is about the specification. */
function merged(stored: KubeObject, manifest: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = stored.metadata;
  const spec = applied(stored['spec'], lastApplied(stored), manifest['spec'] ?? {});
  return { ...stored, metadata, spec };
}

function lastApplied({ metadata }: KubeObject): unknown {
  try {
    return (JSON.parse(metadata.annotations?.[LAST_APPLIED] ?? '{}') as { spec?: unknown }).spec;
  } catch {
    return undefined;
  }
}

/** As the API server would store it; as it is written, where the caller may not change it. */
async function judged(
  { kube }: Session,
  stored: KubeObject | undefined,
  wanted: KubeObject,
): Promise<Pick<Proposal, 'proposed' | 'notSeen'>> {
  try {
    const answer = await (stored === undefined
      ? kube.create(wanted, { dryRun: true })
      : kube.replace(wanted, { dryRun: true }));
    const { metadata, status } = stored ?? answer;
    const spec = answer['spec'];
    return { proposed: { ...wanted, metadata: advanced(metadata, stored, spec), spec, status }, notSeen: [] };
  } catch (error) {
    if (!isForbidden(error)) throw error;
    const verb = stored === undefined ? 'create' : 'update';
    const notSeen = [
      `whether the API server would accept the specification: it was not asked, because you have no right to ${verb} etcdclusters`,
    ];
    const metadata = advanced(stored?.metadata ?? wanted.metadata, stored, wanted['spec']);
    return { proposed: { ...wanted, metadata }, notSeen };
  }
}

/** Another specification is another generation: an abort of the former one does not hold for it. */
function advanced(
  metadata: KubeObject['metadata'],
  stored: KubeObject | undefined,
  spec: unknown,
): KubeObject['metadata'] {
  if (stored === undefined) return { ...metadata, uid: metadata.uid ?? 'not-created-yet', generation: 1 };
  const { generation = 1 } = stored.metadata;
  return { ...metadata, generation: isDeepStrictEqual(stored['spec'], spec) ? generation : generation + 1 };
}
