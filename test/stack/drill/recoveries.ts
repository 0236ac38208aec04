/** What drills of lost quorums do and look at: the EtcdRestores and EtcdRequests of a namespace, and who was where. */
import { API_VERSION } from '../../../src/api/names.ts';
import type { EtcdRequest, EtcdRestore } from '../../../src/api/schemas/types.ts';
import type { KubeObject } from '../../../src/kube/port.ts';
import { readCluster, type World } from '../e2e.ts';
import { poll } from '../poll.ts';
import type { Place } from './drill.ts';
import type { Runbook } from './runbook.ts';

const PATIENCE_MS = 240_000;

const listed = async (world: World, namespace: string, kind: string) =>
  (await world.kube.list({ apiVersion: API_VERSION, kind }, { namespace })).items as unknown;

export const restoresIn = async (world: World, namespace: string) =>
  (await listed(world, namespace, 'EtcdRestore')) as readonly EtcdRestore[];

export const requestsIn = async (world: World, namespace: string) =>
  (await listed(world, namespace, 'EtcdRequest')) as readonly EtcdRequest[];

/** The names of the members, that of the leader first. */
export async function leaderFirst(world: World, { namespace, name }: Place): Promise<readonly string[]> {
  const { leader = '', members } = (await readCluster(world, namespace, name))?.status ?? {};
  const all = (members?.details ?? []).map(each => each.name);
  return [leader, ...all.filter(each => each !== leader)];
}

/** The number of the node of the stack that the pod runs on. */
export const nodeOf = ({ stack }: World, pod: KubeObject): number =>
  stack.nodes.indexOf((pod['spec'] as { nodeName: string }).nodeName) + 1;

/**
 * Takes members away for good, with their claims. In one command: a member whose claim alone is being deleted is replaced, and it would depend
 * on the time between two commands whether a learner is there when the quorum is lost.
 */
export const loseMembers = ({ stack }: World, namespace: string, ...members: readonly string[]) =>
  stack.kubectl(
    ...['-n', namespace, 'delete', '--now', '--wait=false'],
    ...['pod', 'pvc'].flatMap(kind => members.map(name => `${kind}/${name}`)),
  );

/** Waits until the status offers a recovery. */
export const offeredRecovery = (world: World, { namespace, name }: Place) => {
  const status = async () => (await readCluster(world, namespace, name))?.status;
  return poll(async () => (await status())?.recovery, {
    timeoutMs: PATIENCE_MS,
    otherwise: async () => JSON.stringify(await status(), null, 1),
  });
};

/** Types the command of docs/operations/disaster.md with exactly these facts. */
export async function approveRecovery(
  page: Runbook,
  name: string,
  { survivor, revision, ids }: { survivor: string; revision: number; ids: readonly string[] },
): Promise<string> {
  const named = ids.map(id => `--give-up ${id}`).join(' ');
  return page.type(
    'kubectl etcd recover',
    command =>
      `${command.replace('example example-2', `${name} ${survivor}`)} --yes --revision ${revision} ${named}`,
  );
}

/** Approves what is offered; the revision that was approved. */
export async function approveOffer(world: World, page: Runbook, at: Place): Promise<number> {
  const { member = '', revision, givenUp = [] } = await offeredRecovery(world, at);
  await approveRecovery(page, at.name, { survivor: member, revision, ids: givenUp.map(({ id }) => id) });
  return revision;
}
