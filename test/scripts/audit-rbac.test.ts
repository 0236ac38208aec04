import { describe, expect, it } from 'vitest';
import { type AuditEvent, rightsOf, UsageCount } from '../../scripts/audit-rbac/usage.ts';

const RULES = [
  { apiGroups: [''], resources: ['pods', 'pods/eviction'], verbs: ['list', 'create'] },
  {
    apiGroups: ['coordination.k8s.io'],
    resources: ['leases'],
    resourceNames: ['watcher'],
    verbs: ['update'],
  },
];

function event(
  verb: string,
  objectRef: AuditEvent['objectRef'],
  changes: Partial<AuditEvent> = {},
): AuditEvent {
  return {
    verb,
    requestURI: '/api/v1',
    requestReceivedTimestamp: '2026-11-27T12:00:00Z',
    user: { username: 'system:serviceaccount:operators:etcd-operator' },
    ...(objectRef && { objectRef }),
    annotations: { 'authorization.k8s.io/decision': 'allow' },
    ...changes,
  };
}

function usageOf(...events: readonly AuditEvent[]) {
  const count = new UsageCount('etcd-operator', rightsOf(RULES));
  for (const each of events) count.add(each);
  return count.result();
}

describe('the usage of roles', () => {
  it('has one right for each verb and resource, all unused without requests', () => {
    expect(usageOf().unused).toEqual([
      { group: '', resource: 'pods', verb: 'list' },
      { group: '', resource: 'pods', verb: 'create' },
      { group: '', resource: 'pods/eviction', verb: 'list' },
      { group: '', resource: 'pods/eviction', verb: 'create' },
      { group: 'coordination.k8s.io', resource: 'leases', verb: 'update', names: ['watcher'] },
    ]);
  });

  it('tells a subresource from its resource, and an object that is named from others', () => {
    const { unused, requests } = usageOf(
      event('create', { resource: 'pods', subresource: 'eviction', name: 'a' }),
      event('update', { apiGroup: 'coordination.k8s.io', resource: 'leases', name: 'other' }),
    );
    expect(requests).toBe(2);
    expect(unused.map(({ verb, resource }) => `${verb} ${resource}`)).toEqual([
      'list pods',
      'create pods',
      'list pods/eviction',
      'update leases',
    ]);
  });

  it('counts what the authorizer refused, and not what admission refused', () => {
    const forbid = { annotations: { 'authorization.k8s.io/decision': 'forbid' } };
    const { refused } = usageOf(
      event('delete', { resource: 'nodes', name: 'n' }, forbid),
      event('delete', { resource: 'nodes', name: 'm' }, forbid),
      event('get', undefined, { ...forbid, requestURI: '/metrics' }),
      event('create', { resource: 'pods', namespace: 'full' }),
    );
    expect(refused.map(({ what, count }) => [what, count])).toEqual([
      ['delete nodes', 2],
      ['get /metrics', 1],
    ]);
  });

  it('leaves out other accounts, also of the same namespace', () => {
    const other = (username: string) => event('list', { resource: 'pods' }, { user: { username } });
    const { requests } = usageOf(
      other('system:serviceaccount:etcd-operator:default'),
      other('etcd-operator'),
      other('system:node:etcd-operator'),
    );
    expect(requests).toBe(0);
  });
});
