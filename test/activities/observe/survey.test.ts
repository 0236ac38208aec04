import { expect, test } from 'vitest';
import { Surveyor } from '../../../src/activities/observe/survey.ts';
import { FakeEtcd } from '../../fakes/etcd/etcd.ts';
import { FakeKube } from '../../fakes/kubernetes/kube.ts';

const ref = { kind: 'EtcdCluster', namespace: 'default', name: 'example', uid: 'uid-of-example' } as const;

test('members without TLS are asked without asking the API server; how others are reached is read', async () => {
  const kube = new FakeKube();
  const surveyor = new Surveyor({ kube, etcd: new FakeEtcd() });
  const pods = [{ name: 'example-0', ip: '10.0.0.7' }];
  const plain = await surveyor.ask(ref, { pods, access: '0', plainDomain: '' });
  expect(Object.keys(plain.probes)).toEqual(['example-0']);
  expect(kube.calls).toEqual([]);
  const secured = await surveyor.ask(ref, { pods, access: '0', plainDomain: undefined });
  expect(kube.calls.map(({ verb, name }) => `${verb} ${name}`)).toEqual(['get example']);
  expect(secured.membership).toMatchObject({
    known: false,
    message: expect.stringContaining('default/example does not exist'),
  });
});
