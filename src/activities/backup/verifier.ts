/** Has a pod read a backup: made, given the object out of the store, listened to, and ended whatever happens. */
import type { BackupManifest } from '../../api/derived/backup-manifest.ts';
import { etcdImage, withDefaults } from '../../api/defaults/etcd-cluster.ts';
import type { KubeObject } from '../../kube/port.ts';
import { statusNamed } from '../../objects/containers.ts';
import { CLAIM_STORE_HOST, CLAIM_STORE_PORT, IDENTITY } from '../../objects/claim-store.ts';
import { SCRATCH_SNAPSHOT, VERIFIER, type VerifyPod, verifyPod } from '../../objects/verify-pod.ts';
import { parseReport, type VerificationReport } from '../../planner/backup/verification.ts';
import type { Store } from '../../store/port.ts';
import { exitWords, memoryOf } from '../observe/container-exit.ts';
import type { PodStatus } from '../observe/pod-trouble.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { POD } from '../runtime/kinds.ts';
import { placeBeside, resourcesOf } from '../runtime/pod-placement.ts';
import { waitUntil } from '../runtime/poll.ts';
import { snapshotIn } from './examined-object.ts';
import { secretText } from '../observe/certificate-secrets.ts';
import { issueIdentity, readIdentity } from './claim-store-identity.ts';
import { addressOf, answering, endPod, ensurePod, removeUnfit } from './serving-pod.ts';
import { managedCluster } from './source.ts';
import type { Run } from './run.ts';

interface Asked {
  readonly manifest: BackupManifest;
  readonly key: string;
  readonly level: VerifyPod['level'];
}

/**
 * What etcd's tools say of the object. Throws `EtcdError` `corrupt` when it is not what its manifest says, and a BackupFailure
 * that says why the pod could not be heard.
 */
export async function askVerifier(run: Run, asked: Asked): Promise<VerificationReport> {
  const { deps, ref, bounds } = run;
  const { kube } = deps;
  const owner = { kind: 'EtcdBackup', ...ref, role: 'verify' } as const;
  // One that was left may hold half a snapshot, or have ended.
  await removeUnfit(deps, owner, () => false);
  const secret = (await readIdentity(deps, owner)) ?? (await issueIdentity(deps, owner));
  const pod = await ensurePod(kube, owner, verifyPod(owner, await podOf(run, asked)));
  try {
    const host = await addressOf(deps, owner);
    const scratch = deps.openServed({
      location: `pod ${ref.namespace}/${pod.metadata.name}`,
      host,
      port: CLAIM_STORE_PORT,
      serverName: CLAIM_STORE_HOST,
      ca: secretText(secret, IDENTITY.ca) ?? '',
      token: secretText(secret, IDENTITY.token) ?? '',
    });
    try {
      await answering(deps, scratch);
      await bring(run, asked, scratch);
    } finally {
      await scratch.close();
    }
    return await heard(deps, pod, bounds.deadlineMs);
  } finally {
    await endPod(kube, pod);
  }
}

/** The object as it is stored, decompressed: read again, not what was streamed. */
async function bring({ folder, bounds }: Run, { manifest, key }: Asked, scratch: Store): Promise<void> {
  const { entry, compression } = manifest;
  const opened = { store: folder.store, object: { key } };
  const source = { location: entry.location, sha256: entry.sha256 ?? '', compression };
  await scratch.put(SCRATCH_SNAPSHOT, snapshotIn(opened, source, bounds), bounds);
}

async function podOf({ deps, folder, bounds }: Run, { manifest, level }: Asked): Promise<VerifyPod> {
  const { entry, snapshot, live } = manifest;
  const cluster = await managedCluster(deps, folder.backup);
  const { repository, version } = withDefaults(cluster?.spec ?? {}, {
    version: cluster?.status?.currentVersion,
  });
  // Of an object that is described later nobody knows which version wrote it, where the cluster is another one since.
  return {
    images: { operator: await deps.ownImage(), etcd: etcdImage(repository, entry.etcdVersion ?? version) },
    level,
    revision: live?.revision ?? '',
    snapshotSize: snapshot.size,
    secondsLeft: bounds.deadlineMs / 1000,
    ...(cluster === undefined
      ? { place: {} }
      : { place: placeBeside(cluster), resources: resourcesOf(cluster) }),
  };
}

/** A check lasts ten seconds. */
const CHECK_MS = 10_000;

async function heard(deps: Dependencies, pod: KubeObject, deadlineMs: number): Promise<VerificationReport> {
  const { namespace = '', name, uid } = pod.metadata;
  let report: VerificationReport | undefined;
  for (let spent = 0; report === undefined && spent <= deadlineMs; spent += CHECK_MS) {
    await waitUntil(deps, async () => {
      const found = await deps.kube.get({ ...POD, namespace, name });
      report = found !== undefined && found.metadata.uid === uid ? reportOf(found) : gone('it was deleted');
      return report === undefined ? 'notYet' : 'done';
    });
  }
  return report ?? gone('it did not complete in time');
}

/** Undefined: it still works. */
function reportOf(pod: KubeObject): VerificationReport | undefined {
  const status = (pod['status'] ?? {}) as PodStatus;
  const ended = statusNamed(status, VERIFIER)?.state?.terminated;
  if (ended !== undefined) {
    const words = exitWords(ended, memoryOf(pod, VERIFIER));
    return parseReport(ended.message) ?? gone(words || (ended.reason ?? 'it ended without a message'));
  }
  const { phase, reason, message } = status;
  return phase === 'Failed' ? gone(message ?? reason ?? 'it failed without a message') : undefined;
}

function gone(why: string): VerificationReport {
  return { kind: 'trouble', message: `of its pod: ${why}` };
}
