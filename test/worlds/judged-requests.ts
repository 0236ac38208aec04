/** Passes that judge the EtcdRequests of a cluster that is well, and do nothing else. */
import type { Activities } from '../../src/activities/index.ts';
import {
  recordAccepted,
  recordOutcomes,
  requestsAbout,
} from '../../src/activities/resource/etcd-requests.ts';
import type { KubeClient } from '../../src/kube/port.ts';
import { settleRequests } from '../../src/planner/requests/cluster.ts';
import type { HeldRequests } from '../../src/planner/requests/common.ts';
import { situationOf } from '../../src/planner/situation.ts';
import { aRunningCluster } from './builders.ts';

/** `assess` around the one that is given, which says what is decided. */
export function judgingRequests({ assess, ...others }: Activities, kube: KubeClient): Activities {
  let holds: HeldRequests | undefined;
  const deps = {
    kube,
    recordEvent: () => {},
    logger: { info: () => {}, warn: () => {} },
    now: () => Date.now(),
  };
  return {
    ...others,
    assess: async (ref, context) => {
      const now = Date.now();
      const requests = await requestsAbout(kube, { kind: 'EtcdCluster', ...ref });
      const well = aRunningCluster();
      const status = { ...well.cluster.status, ...(holds && { userRequests: holds }) };
      const situation = situationOf(
        { ...well, now, requests, cluster: { ...well.cluster, status } },
        context.workflowState,
      );
      const { workflowId } = context;
      const target = { kind: 'EtcdCluster', ...ref, workflowId, createdAt: 0 } as const;
      const settled = settleRequests(situation, target);
      const judge = { workflowId, now };
      const changes = await recordAccepted(deps, settled.changes, judge);
      ({ holds } = settled);
      await recordOutcomes(deps, { changes, requests }, judge);
      return assess(ref, context);
    },
  };
}
