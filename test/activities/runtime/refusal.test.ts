/** What is said to do about a refusal, by the words of each admission plugin of Kubernetes. */
import { expect, it } from 'vitest';
import { withWayOn } from '../../../src/activities/runtime/refusal.ts';

it.each([
  [
    'pods "a-1" is forbidden: exceeded quota: team-a, requested: pods=1, used: pods=3, limited: pods=3',
    'raise ResourceQuota team-a,',
  ],
  [
    'pods "a-1" is forbidden: failed quota: team-a: must specify limits.cpu for: etcd',
    'that ResourceQuota team-a demands in spec.pod.resources',
  ],
  [
    'pods "a-1" is forbidden: maximum cpu usage per Container is 500m, but limit is 1',
    'change the LimitRange of the namespace',
  ],
  [
    'persistentvolumeclaims "a-1" is forbidden: minimum storage usage per PersistentVolumeClaim is 2Gi, but request is 1Gi',
    'change the LimitRange of the namespace',
  ],
  [
    'pods "a-1" is forbidden: cpu max limit to request ratio per Container is 2, but provided ratio is 4.000000',
    'change the LimitRange of the namespace',
  ],
  [
    `pods "a-1" is forbidden: ValidatingAdmissionPolicy 'images' with binding 'all' denied request: no`,
    'change ValidatingAdmissionPolicy images,',
  ],
  ['admission webhook "deny.example.com" denied the request: no', 'what webhook deny.example.com demands'],
  [
    'pods "a-1" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true',
    'set spec.pod.securityContext as the level demands',
  ],
  ['pods "a-1" is forbidden: no PriorityClass with name high was found', 'create the PriorityClass'],
  [
    'pods is forbidden: User "system:serviceaccount:a:b" cannot create resource "pods" in API group "" in the namespace "c"',
    'give the service account of the operator this right',
  ],
  ['Pod "a-1" is invalid: spec.affinity: Invalid value', 'correct what the message objects to'],
])('%s', (message, way) => {
  const said = withWayOn(message);
  expect(said.startsWith(`${message}; to go on, `)).toBe(true);
  expect(said).toContain(way);
});

it('nothing is added to what no one knows', () => expect(withWayOn('no')).toBe('no'));
