/** Users who write EtcdRequests, and delete them: beside those who send messages to the workflow (faults-of-users.ts). */
import { API_VERSION } from '../../src/api/names.ts';
import type { EtcdClusterStatus, EtcdRequest, EtcdRequestSpec } from '../../src/api/schemas/types.ts';
import type { WritableObject } from '../../src/kube/port.ts';
import type { Fault } from './fault.ts';
import { CLUSTER } from './invariants.ts';
import { NAMESPACE } from './sim-kube.ts';
import type { SimWorld } from './sim-world.ts';

/** Users write no more while so many wait. */
const MOST_OPEN = 3;

function openRequests(world: SimWorld): readonly EtcdRequest[] {
  const all = world.kube.all('EtcdRequest') as unknown as EtcdRequest[];
  return all.filter(({ status }) => status?.completedAt === undefined);
}

/** Somebody creates one. */
function write(world: SimWorld, spec: Pick<EtcdRequestSpec, 'action'> & Partial<EtcdRequestSpec>): string {
  const whole = { clusterRef: { name: CLUSTER }, by: 'somebody', reason: 'maintenance', ...spec };
  const { name } = world.kube.create({
    apiVersion: API_VERSION,
    kind: 'EtcdRequest',
    metadata: { namespace: NAMESPACE, name: `${spec.action.toLowerCase()}-${world.ticks}` },
    spec: whole,
  } as unknown as WritableObject).metadata;
  world.wake();
  return name;
}

const requested: Fault = (world, random) => {
  if (world.resource === undefined || openRequests(world).length >= MOST_OPEN) return undefined;
  const action =
    random.pick([
      'Pause',
      'Resume',
      'Resync',
      'Abort',
      'ReplaceMember',
      'MoveLeader',
      'Restart',
      'Restart',
    ] as const) ?? 'Restart';
  const { rows = [] } = world.invariants.truth.members() ?? {};
  const names = rows.map(row => /^https?:\/\/([^.]+)/.exec(row.peerUrl)?.[1] ?? '');
  const isOfMember = action === 'ReplaceMember' || action === 'MoveLeader';
  const member = random.pick(isOfMember ? [...names, 'nobody'] : [...names, '']) ?? '';
  const expiresAfterSeconds = random.chance(0.5) ? 3_600 : 60;
  const ttlSecondsAfterFinished = random.chance(0.5) ? 0 : 600;
  const of = isOfMember || (action === 'Restart' && member !== '') ? { member } : {};
  return write(world, { action, ...of, expiresAfterSeconds, ttlSecondsAfterFinished });
};

const approvedByRequest: Fault = world => {
  const { consent } = world.operator;
  if (consent === undefined || openRequests(world).length >= MOST_OPEN) return undefined;
  for (const id of consent.ids) world.invariants.truth.named.add(id);
  return write(world, { action: 'Approve', operation: consent.operation, ids: [...consent.ids] });
};

const requestDeleted: Fault = (world, random) => {
  const request = random.pick(world.kube.all('EtcdRequest'));
  if (request === undefined) return undefined;
  world.kube.delete('EtcdRequest', request.metadata.name);
  world.wake();
  return request.metadata.name;
};

export const faultsOfRequests = { requested, approvedByRequest, requestDeleted } satisfies Record<
  string,
  Fault
>;

/** In the calm users end what they have stopped by requests, and take back what waits for an approval. */
export function endRequests(world: SimWorld): void {
  const { userRequests } = (world.resource?.['status'] ?? {}) as EtcdClusterStatus;
  const isOpen = (action: EtcdRequestSpec['action']) =>
    openRequests(world).some(({ spec }) => spec.action === action);
  if (userRequests?.pause !== undefined && !isOpen('Resume')) write(world, { action: 'Resume' });
  if (userRequests?.abort !== undefined && !isOpen('Resync')) write(world, { action: 'Resync' });
  if (world.operator.consent === undefined) return;
  for (const { metadata } of openRequests(world)) world.kube.delete('EtcdRequest', metadata.name);
  world.wake();
}
