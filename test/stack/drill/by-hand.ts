/** A rolling restart the way a careful person does it with kubectl and etcdctl, to compare the operator's with. */
import { DEFAULT_REPOSITORY } from '../../../src/api/schemas/default-values.ts';
import { podsOf } from '../e2e.ts';
import { poll } from '../poll.ts';
import type { Drilled } from './drilled.ts';

type ByHand = Pick<Drilled, 'at' | 'world' | 'kubectl'>;

interface Container {
  readonly image?: string;
  readonly ready?: boolean;
}

/**
 * Gives the pods another version one after the other, the leader last after it handed over, and each only when the one before is
 * ready, is healthy and runs it. Nobody must be there who takes that back. Gives the milliseconds that it took.
 */
export async function rollByHand(cluster: ByHand, version: string): Promise<number> {
  const begun = performance.now();
  const pods = await podsOf(cluster.world(), cluster.at.namespace, cluster.at.name);
  const names = pods.map(({ metadata }) => metadata.name);
  const leader = await leaderAmong(cluster, names);
  const followers = names.filter(name => name !== leader.name);
  for (const name of followers) await restart(cluster, name, version);
  const { idOf } = await leaderAmong(cluster, names);
  const heir = idOf(followers[0] ?? '');
  await cluster.kubectl('exec', leader.name, '--', 'etcdctl', 'move-leader', heir);
  await restart(cluster, leader.name, version);
  return performance.now() - begun;
}

/** Asks every member, as `etcdctl` prints it; ids are beyond the numbers of JavaScript and are read as text. */
async function leaderAmong(cluster: ByHand, names: readonly string[]) {
  const ids = new Map<string, string>();
  const leaders = new Set<string>();
  for (const name of names) {
    const text = await cluster.kubectl('exec', name, '--', 'etcdctl', 'endpoint', 'status', '-w', 'fields');
    const field = (key: string): string => new RegExp(`"${key}" : (\\d+)`).exec(text)?.[1] ?? '';
    ids.set(name, BigInt(field('MemberID')).toString(16));
    leaders.add(BigInt(field('Leader')).toString(16));
  }
  const name = names.find(each => leaders.has(ids.get(each) ?? ''));
  if (name === undefined || leaders.size !== 1) throw new Error('the members name no leader, or several');
  return { name, idOf: (member: string): string => ids.get(member) ?? '' };
}

async function restart(cluster: ByHand, name: string, version: string): Promise<void> {
  const image = `${DEFAULT_REPOSITORY}:v${version}`;
  const patch = JSON.stringify([{ op: 'replace', path: '/spec/containers/0/image', value: image }]);
  await cluster.kubectl('patch', 'pod', name, '--type=json', '-p', patch);
  await poll(
    async () => {
      const pods = await podsOf(cluster.world(), cluster.at.namespace, cluster.at.name);
      const { containerStatuses: [container] = [] } = (pods.find(({ metadata }) => metadata.name === name)?.[
        'status'
      ] ?? {}) as { containerStatuses?: Container[] };
      return container?.ready === true && container.image?.endsWith(`:v${version}`) === true;
    },
    { timeoutMs: 60_000 },
  );
  await poll(() => cluster.kubectl('exec', name, '--', 'etcdctl', 'endpoint', 'health'), {
    timeoutMs: 60_000,
  });
}
