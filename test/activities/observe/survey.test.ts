import { expect, test } from 'vitest';
import { Surveyor } from '../../../src/activities/observe/survey.ts';
import { API_VERSION } from '../../../src/api/names.ts';
import { FakeEtcd } from '../../fakes/etcd/etcd.ts';
import { FakeKube } from '../../fakes/kubernetes/kube.ts';

const ref = { kind: 'EtcdCluster', namespace: 'default', name: 'example', uid: 'uid-of-example' } as const;

test('members without TLS are asked without asking the API server; how others are reached is read', async () => {
  const kube = new FakeKube();
  const surveyor = new Surveyor({ kube, etcd: new FakeEtcd() });
  const pods = [{ name: 'example-0', ip: '10.0.0.7' }];
  const plain = await surveyor.ask(ref, { pods, plainDomain: '' });
  expect(Object.keys(plain.probes)).toEqual(['example-0']);
  expect(kube.calls).toEqual([]);
  const secured = await surveyor.ask(ref, { pods, plainDomain: undefined });
  expect(kube.calls.map(({ verb, name }) => `${verb} ${name}`)).toEqual(['get example']);
  expect(secured.membership).toMatchObject({
    known: false,
    message: expect.stringContaining('default/example does not exist'),
  });
});

test('how a cluster is reached is read once, and again after no quorum has answered', async () => {
  const kube = new FakeKube();
  kube.seed({
    apiVersion: API_VERSION,
    kind: ref.kind,
    metadata: { namespace: ref.namespace, name: ref.name, uid: ref.uid },
    spec: { size: 1 },
  });
  const etcd = new FakeEtcd();
  etcd.bootstrap({ name: 'example', hosts: ['10.0.0.7'] });
  const surveyor = new Surveyor({ kube, etcd });
  const ask = () =>
    surveyor.ask(ref, { pods: [{ name: 'example-0', ip: '10.0.0.7' }], plainDomain: undefined });
  const read = () => kube.calls.filter(({ name }) => name === 'example').length;
  for (let time = 0; time < 3; time += 1) expect((await ask()).membership.known).toBe(true);
  expect(read()).toBe(1);
  etcd.stop('10.0.0.7');
  await ask();
  expect(read()).toBe(1);
  await ask();
  expect(read()).toBe(2);
});
