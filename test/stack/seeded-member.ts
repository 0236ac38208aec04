/** A real member on data that etcdutl has made of a snapshot, with the arguments of the pod that does it. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ensureToolchain } from '../../local/toolchain/index.ts';
import { DATA_DIR, VOLUME_PATH } from '../../src/objects/etcd-arguments.ts';
import { SNAPSHOT_KEY, type SeedPod, seedPod } from '../../src/objects/seed-pod.ts';
import type { EtcdProcess, EtcdProcessCluster } from './etcd-process.ts';

interface Seed extends Pick<SeedPod, 'revisionBump' | 'isDatabase'> {
  /** The file. */
  readonly snapshot: string;
  readonly version: string;
  readonly token: string;
}

/** Makes the data of the first member, starts it, and waits until it is healthy. */
export async function startSeeded(
  { members: [member] }: EtcdProcessCluster,
  { snapshot, version, token, ...made }: Seed,
): Promise<EtcdProcess> {
  if (member === undefined) throw new Error('there is no member');
  const { name, peerUrl } = member;
  const pod = seedPod({
    restore: { namespace: '', name: '', uid: '' },
    member: { name, peerUrl, token },
    claim: name,
    images: { operator: '', etcd: '' },
    place: {},
    ...made,
  });
  const { args } = pod.spec.initContainers[1] as { readonly args: readonly string[] };
  const here = args.map(arg =>
    arg.replace(`${VOLUME_PATH}/${SNAPSHOT_KEY}`, snapshot).replace(DATA_DIR, member.dataDir),
  );
  const tool = `etcdutl@${version}` as const;
  await promisify(execFile)((await ensureToolchain({ only: [tool] })).path(tool), here);
  member.start();
  await member.untilHealthy();
  return member;
}
