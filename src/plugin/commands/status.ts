import type { EtcdCluster } from '../../api/schemas/types.ts';
import { type AskedNow, askedNow } from '../members/asked.ts';
import { need } from '../not-found.ts';
import { statusLines } from '../views/status-lines.ts';
import { clusterNameOf } from './cluster-name.ts';
import type { Call, CommandRow, Found } from './command.ts';
import { watched } from './watched.ts';

/** Members are not asked more often than this. */
const ASK_MS = 5_000;

export const status: CommandRow = {
  usage: 'NAME',
  words: [1, 1],
  about: 'what a cluster is doing: members, conditions, the running operation and its next steps',
  flags: ['watch'],
  more: [
    'Lag, database and quota are asked from the members, which takes the right to get pods/proxy; everything else is the status.',
  ],
  run: call => {
    const ask = asking(call);
    return watched(call, async () => {
      const cluster = await need(call.session, 'EtcdCluster', clusterNameOf(call));
      return found(call, cluster, ask);
    });
  },
};

function found({ session, io }: Call, cluster: EtcdCluster, ask: ReturnType<typeof asking>): Found {
  const viewing = { where: session.where, now: io.now() };
  return {
    data: cluster,
    lines: statusLines(cluster, viewing),
    completed: async () => {
      const asked = await ask(cluster);
      const data = { ...cluster, askedFromMembersNow: asked };
      return { data, lines: statusLines(cluster, { ...viewing, asked }) };
    },
  };
}

/** What members say; what they said last while that is new. */
function asking(call: Call): (cluster: EtcdCluster) => Promise<AskedNow> {
  let last: { readonly until: number; readonly asked: AskedNow } | undefined;
  return async cluster => {
    const now = call.io.now();
    if (last === undefined || now >= last.until)
      last = { until: now + ASK_MS, asked: await askedNow(call, cluster) };
    return last.asked;
  };
}
