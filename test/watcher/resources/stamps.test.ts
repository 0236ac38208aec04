/** The operator's own stamps: which changes of them are the doing of an operation. */
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../../src/kube/port.ts';
import { isOfOperation, isWorthEnqueueing } from '../../../src/watcher/resources/event-filter.ts';
import { slimOwned, slimPod, slimResource } from '../../../src/watcher/resources/slim.ts';
import { type Change, edit, owned, refTo, resource } from '../objects.ts';

const cluster = refTo('EtcdCluster', 'example');

describe('the doing of an operation', () => {
  const STAMP = 'etcd.database.coreos.com/';
  const stamps = (values: Readonly<Record<string, string | undefined>>): Change => {
    const own = Object.entries(values).map(([key, value]) => [`${STAMP}${key}`, value] as const);
    return object => {
      const { annotations } = object.metadata;
      const kept = Object.entries(annotations ?? {}).filter(([key]) => !own.some(([other]) => other === key));
      const put = own.flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const]));
      object.metadata.annotations = Object.fromEntries([...kept, ...put]);
    };
  };
  const stamped = (object: KubeObject, values: Readonly<Record<string, string>>): KubeObject => {
    const copy = structuredClone(object);
    stamps(values)(copy);
    return copy;
  };
  const url = (name: string) => `${name}=http://${name}.example.default.svc:2380`;
  const open = {
    'initial-cluster': `${url('example-0')},${url('example-1')}`,
    'initial-cluster-state': 'new',
  };
  const sealed = { 'initial-cluster': url('example-0'), 'initial-cluster-state': 'existing' };
  const pod = stamped(owned('Pod', 'example-0', cluster, { status: { phase: 'Pending' } }), open);
  const sealedPod = stamped(pod, { ...sealed, 'member-id': 'a', 'cluster-id': 'c' });
  const claim = owned('PersistentVolumeClaim', 'example-0', cluster, { status: { phase: 'Bound' } });
  const stampedClaim = stamped(claim, { 'claim-uid': 'u', 'data-version': '3.5.3' });
  const unstamped = resource(cluster, { status: { observedGeneration: 1 } });
  const stampedCluster = stamped(unstamped, { 'cluster-id': 'c', 'last-serial': '2' });
  const service = owned('Service', 'example', cluster);
  const slimOf = ({ kind }: KubeObject) =>
    kind === 'EtcdCluster' ? slimResource : kind === 'Pod' ? slimPod : slimOwned;

  const cases: readonly [string, boolean, KubeObject, Change][] = [
    ['stamps are put on a pod', true, pod, stamps({ 'member-id': 'a', 'cluster-id': 'c' })],
    [
      'a pod is stamped and sealed, and has become ready',
      true,
      pod,
      object => {
        stamps({ ...sealed, 'member-id': 'a', 'cluster-id': 'c' })(object);
        edit(['status', 'conditions'], [{ type: 'Ready', status: 'True' }])(object);
      },
    ],
    ['stamps are put on a claim', true, claim, stamps({ 'claim-uid': 'u', 'member-id': 'a' })],
    [
      'stamps are put on the cluster, and its status says which it is',
      true,
      unstamped,
      object => {
        stamps({ incarnation: 'i', 'cluster-id': 'c', 'last-serial': '2', security: 's', domain: 'd' })(
          object,
        );
        edit(['status', 'clusterID'], 'c')(object);
      },
    ],
    ['a stamp is taken from a pod', false, sealedPod, stamps({ 'member-id': undefined })],
    ['a stamp of a pod is altered', false, sealedPod, stamps({ 'cluster-id': 'd' })],
    [
      'one stamp is put on and another is altered',
      false,
      stampedClaim,
      stamps({ 'cluster-id': 'c', 'claim-uid': 'v' }),
    ],
    ['a pod is unsealed', false, sealedPod, stamps(open)],
    ['a seal is taken away', false, sealedPod, stamps({ 'initial-cluster': undefined })],
    [
      'a sealed pod gets another URL',
      false,
      sealedPod,
      stamps({ 'initial-cluster': 'example-0=http://elsewhere:2380' }),
    ],
    ['an open pod gets other members', false, pod, stamps({ 'initial-cluster': url('example-0') })],
    [
      'an open pod is sealed as another member',
      false,
      pod,
      stamps({ ...sealed, 'initial-cluster': url('example-1') }),
    ],
    [
      'a stamp of a claim is altered, as an upgrade does',
      false,
      stampedClaim,
      stamps({ 'data-version': '3.5.35' }),
    ],
    ['a stamp is taken from the cluster', false, stampedCluster, stamps({ 'cluster-id': undefined })],
    ['a stamp of the cluster is altered', false, stampedCluster, stamps({ 'last-serial': '3' })],
    [
      'the cluster is stamped and edited',
      false,
      unstamped,
      object => {
        stamps({ 'cluster-id': 'c' })(object);
        edit(['metadata', 'generation'], 2)(object);
      },
    ],
    [
      'a pod is stamped and labelled',
      false,
      pod,
      object => {
        stamps({ 'cluster-id': 'c' })(object);
        edit(['metadata', 'labels', 'team'], 'a')(object);
      },
    ],
    ['a claim is stamped as a restore marks it', false, claim, stamps({ 'kept-by-restore': 'r' })],
    ['a Service is stamped', false, service, stamps({ 'cluster-id': 'c' })],
  ];
  test.each(cases)('%s: %s', (_, expected, before, change) => {
    const slim = slimOf(before);
    const after = structuredClone(before);
    change(after);
    const stored = { type: 'updated', object: slim(after), previous: slim(before) } as const;
    expect(isWorthEnqueueing(stored)).toBe(true);
    expect(isOfOperation(stored)).toBe(expected);
  });

  test('nothing of the length of a stamp is kept', () => {
    const long = stamped(pod, { ...sealed, 'cluster-id': 'x'.repeat(100_000) });
    expect(JSON.stringify(slimPod(long)).length).toBeLessThan(2_000);
  });
});
