/** What an EtcdRestore's own workflow does: it examines the backup, and makes a cluster to restore into. */
import { ANNOTATION_RESTORED_BY, API_VERSION } from '../../api/names.ts';
import type { EtcdRestore } from '../../api/schemas/types.ts';
import { eventOf } from '../../api/events.ts';
import { timestamp } from '../../api/values/time.ts';
import { observe } from '../observe/observe.ts';
import { EtcdError } from '../../etcd/port.ts';
import { isAlreadyExists } from '../../kube/errors.ts';
import type { Observation } from '../../planner/model/observation.ts';
import { returnTo } from '../../planner/checks/kept-incarnation.ts';
import { keptNote } from '../../planner/model/kept-incarnations.ts';
import type { Situation } from '../../planner/model/situation.ts';
import { situationOf } from '../../planner/situation.ts';
import type { RestoreStepOf } from '../../planner/restore/steps.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { examineEither } from './either-store.ts';
import { readRestore, recordFailure, recordRestore, type RestoreRef } from '../resource/etcd-restore.ts';

/** Reads the backup from end to end and records what it is. What is no good backup ends the restore, and nothing was touched. */
export async function examineBackup(
  deps: Dependencies,
  ref: RestoreRef,
  { generation }: RestoreStepOf<'examineBackup'>,
): Promise<void> {
  const restore = await readRestore(deps.kube, ref);
  if (restore === undefined || restore.metadata.generation !== generation)
    throw preconditionChanged('the specification has changed');
  const { location = '' } = restore.status?.chosen ?? {};
  try {
    const source = await examineEither(deps, restore);
    await recordRestore(deps, ref, ({ status = {} }) => ({ ...status, source, generation }));
    if (source.because === undefined) return;
    const message = `${source.location} is read instead of ${location}: ${source.because}`;
    deps.recordEvent({ kind: 'EtcdRestore', ...ref }, eventOf('EtcdRestore', 'SecondStoreUsed', message));
  } catch (error) {
    if (!(error instanceof EtcdError) || error.code !== 'corrupt') throw error;
    await recordFailure(deps, ref, { message: error.message, generation });
  }
}

/** Asks the survivor for its revision again, and records that in the place of a backup. No member is stopped before that. */
export async function examineSurvivor(
  deps: Dependencies,
  ref: RestoreRef,
  { generation, member }: RestoreStepOf<'examineSurvivor'>,
): Promise<void> {
  const restore = await readRestore(deps.kube, ref);
  const { survivor, etcdCluster } = restore?.spec ?? {};
  if (restore?.metadata.generation !== generation || survivor?.member !== member)
    throw preconditionChanged('the specification has changed');
  const { namespace } = ref;
  const name = etcdCluster?.name ?? '';
  const observation = await observeTarget(deps, { namespace, name });
  const { revision, version, size } = dataOf(observation, survivor);
  if (revision !== survivor.revision)
    throw preconditionChanged(`${member} has revision ${revision}, and ${survivor.revision} was approved`);
  const clusterId = observation.cluster.status.clusterID ?? '';
  const source = {
    location: `survivor://${namespace}/${member}`,
    size,
    sha256: '',
    snapshotSize: size,
    compression: 'none' as const,
    revision: survivor.revision,
    etcdVersion: version,
    clusterID: clusterId,
    time: timestamp(deps.now()),
  };
  await recordRestore(deps, ref, ({ status = {} }) => ({ ...status, source, generation }));
}

/** Looks at what is kept and at what runs, and records both in the place of a backup. No member is stopped before that. */
export async function examineIncarnation(
  deps: Dependencies,
  ref: RestoreRef,
  { generation, token }: RestoreStepOf<'examineIncarnation'>,
): Promise<void> {
  const restore = await readRestore(deps.kube, ref);
  const { incarnation, etcdCluster } = restore?.spec ?? {};
  if (restore?.metadata.generation !== generation || incarnation?.token !== token)
    throw preconditionChanged('the specification has changed');
  const { namespace } = ref;
  const name = etcdCluster?.name ?? '';
  const situation = situationOf(await observeTarget(deps, { namespace, name }));
  const judged = returnTo(situation, token);
  if ('fault' in judged) throw preconditionChanged(judged.fault.message);
  const { clusterId, revision, leftAt, version } = judged.found;
  const time = timestamp(deps.now());
  const source = {
    location: `incarnation://${namespace}/${token}`,
    size: 0,
    sha256: '',
    snapshotSize: 0,
    compression: 'none' as const,
    ...(revision !== undefined && { revision }),
    etcdVersion: version,
    clusterID: clusterId,
    ...(leftAt !== undefined && { time: leftAt }),
  };
  const givenUp = { ...runningNow(situation), time };
  await recordRestore(deps, ref, ({ status = {} }) => ({ ...status, source, generation, givenUp }));
}

/** The cluster that runs, with the highest revision that a member says now, or said last. */
function runningNow(situation: Situation) {
  const { status } = situation.cluster;
  const { token = '', createdAt } = status.incarnation ?? {};
  const said = Object.values(situation.probes).flatMap(probe =>
    probe.answered && probe.revision !== undefined ? [Number(probe.revision)] : [],
  );
  const revision = Math.max(keptNote(situation)?.revision ?? 0, ...said);
  return {
    token,
    clusterID: status.clusterID ?? '',
    ...(createdAt !== undefined && { since: createdAt }),
    ...(revision > 0 && { revision }),
  };
}

/** The cluster that an EtcdRestore names, as its own pass sees it. */
async function observeTarget(
  deps: Dependencies,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): Promise<Observation> {
  const object = await deps.kube.get({ apiVersion: API_VERSION, kind: 'EtcdCluster', namespace, name });
  const seen = await observe(deps, { namespace, name, uid: object?.metadata.uid ?? '' });
  if (seen === undefined) throw preconditionChanged(`EtcdCluster ${name} is gone`);
  return seen.observation;
}

interface SurvivorData {
  readonly revision: number;
  readonly version: string;
  /** Bytes; 0: not known. */
  readonly size: number;
}

/** What the survivor says of its data, or what a pod found of it. */
function dataOf(
  { cluster: { status }, probes }: Observation,
  { member, memberID, claimUID }: NonNullable<EtcdRestore['spec']['survivor']>,
): SurvivorData {
  const probe = probes[member];
  if (probe?.answered === true && probe.memberId === memberID) {
    if (probe.leaderId !== undefined) throw preconditionChanged(`${member} knows a leader`);
    return { revision: Number(probe.revision ?? 0), version: probe.version, size: probe.dbSize };
  }
  const found = status.survivors?.find(each => each.name === member && each.claimUID === claimUID);
  if (found === undefined)
    throw preconditionChanged(`${member} does not answer, and its data was not inspected`);
  return { revision: found.revision, version: status.currentVersion ?? '', size: 0 };
}

/** Makes the EtcdCluster of the template; the annotation keeps it from being made empty. */
export async function createRestored(deps: Dependencies, ref: RestoreRef): Promise<void> {
  const restore = await readRestore(deps.kube, ref);
  const spec = restore?.spec.clusterTemplate;
  if (restore === undefined || spec === undefined)
    throw preconditionChanged('there is no spec.clusterTemplate');
  const { namespace } = ref;
  const { name } = restore.spec.etcdCluster;
  const annotations = { [ANNOTATION_RESTORED_BY]: ref.name };
  try {
    await deps.kube.create({
      apiVersion: API_VERSION,
      kind: 'EtcdCluster',
      metadata: { namespace, name, annotations },
      spec,
    });
  } catch (error) {
    // The next pass says whose it is.
    if (!isAlreadyExists(error)) throw error;
  }
}
