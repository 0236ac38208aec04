/** Which pods the client Service selects, as both are now. */
import { expect, it } from 'vitest';
import { serviceFacts } from '../../../src/activities/observe/service-facts.ts';
import type { KubeObject } from '../../../src/kube/port.ts';
import { clientService } from '../../../src/objects/services.ts';
import { aCluster } from '../../worlds/builders.ts';

const wanted = clientService(aCluster().object);
const labelsOf = (selector: unknown) => selector as Record<string, string>;
const SELECTOR = labelsOf((wanted as unknown as { spec: { selector: unknown } }).spec.selector);
const pod = (name: string, labels: Record<string, string>): KubeObject =>
  ({ apiVersion: 'v1', kind: 'Pod', metadata: { name, labels } }) as KubeObject;
const PODS = [pod('example-0', { ...SELECTOR, more: 'of it' }), pod('example-1', { app: 'etcd' })];
const service = (spec: object): KubeObject => ({ ...wanted, spec }) as unknown as KubeObject;
const leadsTo = (found: KubeObject | undefined) =>
  serviceFacts(found, PODS, { ownerUid: 'u', wanted }).leadsTo;

it.each<[string, KubeObject | undefined, readonly string[] | undefined]>([
  ['those with all labels of its selector', service({ selector: SELECTOR }), ['example-0']],
  ['none by a selector that somebody changed', service({ selector: { app: 'other' } }), []],
  ['none without a selector', service({}), []],
  ['none by an empty one', service({ selector: {} }), []],
  ['nothing is known of one that is not there', undefined, undefined],
])('%s', (_, found, expected) => {
  expect(leadsTo(found)).toEqual(expected);
});
