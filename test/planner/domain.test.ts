/** Another cluster domain on a living cluster: members keep the one they have, and nothing is cleared away as a stranger's. */
import { describe, expect, it } from 'vitest';
import { ANNOTATION_DOMAIN } from '../../src/api/names.ts';
import { domainIn, domainOf, domainStamp } from '../../src/api/derived/domain.ts';
import { validateCluster } from '../../src/api/validation/validate.ts';
import { clusterFacts } from '../../src/activities/observe/observe.ts';
import { podFacts } from '../../src/activities/observe/pod-facts.ts';
import { asCluster } from '../../src/activities/resource/read-cluster.ts';
import type { KubeObject } from '../../src/kube/port.ts';
import { memberPod } from '../../src/objects/pod.ts';
import { planMembership } from '../../src/planner/operations/membership/index.ts';
import { plan } from '../../src/planner/plan.ts';
import type { Observation } from '../../src/planner/model/observation.ts';
import {
  aClaim,
  aCluster,
  aMembership,
  anObservation,
  aPod,
  aRunningCluster,
  aRunningStatus,
  TOKEN,
} from '../worlds/builders.ts';
import { situationOf } from '../../src/planner/situation.ts';

/** The domain was changed, and the record of the old one was lost with the status: the quorum's list still has it. */
function renamed(given: Partial<Observation> = {}): Observation {
  const whole = aRunningCluster(given);
  const spec = { size: 3, pod: { ClusterDomain: 'corp.internal' } };
  const { incarnation, ...status } = aRunningStatus();
  const members = incarnation!.members.map(({ name, peerURL }) => ({
    name,
    peerURL: peerURL.replace('.svc:', '.svc.corp.internal:'),
  }));
  const cluster = aCluster({ spec, status: { ...status, incarnation: { ...incarnation!, members } } });
  return { ...whole, cluster };
}

const left = {
  pods: [...aRunningCluster().pods, aPod({ name: 'example-7' })],
  claims: [...aRunningCluster().claims, aClaim({ name: 'example-7', removal: 'claim-example-7' })],
};

describe('the domain of a living cluster', () => {
  it.each([
    ['http://example-0.example.shop.svc:2380', ''],
    ['https://example-0.example.shop.svc.cluster.local:2380', 'cluster.local'],
    ['http://stranger.elsewhere:2380', undefined],
    ['', undefined],
  ])('is read from %s', (url, expected) => {
    expect(domainIn(url)).toBe(expected);
  });

  it('is as before when another one that was written once is taken back as the message says', () => {
    const settings = { size: 3, pod: { ClusterDomain: 'corp.internal' } };
    const { object } = aCluster({ spec: { size: 3 }, status: { ...aRunningStatus(), settings } });
    expect(validateCluster(asCluster(object as unknown as KubeObject)).blocking).toEqual([]);
  });

  it('is the recorded one, whatever the specification says by now', () => {
    const { object } = aCluster({
      spec: { pod: { ClusterDomain: 'corp.internal' } },
      status: aRunningStatus(),
    });
    expect(domainOf(object)).toBe('');
    expect(clusterFacts(object).config.pod.ClusterDomain).toBe('');
    const pod = memberPod(object, {
      name: 'example-0',
      token: TOKEN,
      start: { state: 'restart' },
      storage: 'PersistentVolumeClaim',
    });
    expect(JSON.stringify(pod.spec)).not.toContain('svc.corp.internal');
    const { peerUrl } = podFacts(pod as unknown as KubeObject, object.metadata.uid);
    expect(peerUrl).toBe('http://example-0.example.shop.svc:2380');
    expect(validateCluster(object).blocking).toMatchObject([
      {
        type: 'SpecValid',
        status: 'False',
        message: expect.stringContaining('remove spec.pod.ClusterDomain'),
      },
    ]);
  });

  it('is the asked one while there are no members', () => {
    const { object } = aCluster({ spec: { pod: { ClusterDomain: '.corp.internal.' } } });
    expect(domainOf(object)).toBe('corp.internal');
  });

  it('asks for nothing when it was changed', () => {
    const { object, ...cluster } = aCluster({
      spec: { pod: { ClusterDomain: 'corp.internal' } },
      status: aRunningStatus(),
    });
    const { config } = clusterFacts(object);
    const decision = plan(aRunningCluster({ cluster: { ...cluster, object, config } }), {});
    expect(decision).toMatchObject({ kind: 'idle' });
  });
});

/** The status was lost; what is asked for, what is stamped, and where the pods and a quorum say that the members are. */
function forgotten({ asked, stamped, pods, listed }: Partial<Record<Source, string>>): Observation {
  const { object } = aCluster({ ...(asked !== undefined && { spec: { pod: { ClusterDomain: asked } } }) });
  const { uid } = object.metadata;
  const annotations =
    stamped === undefined
      ? {}
      : { [ANNOTATION_DOMAIN]: `${uid} ${stamped === '' ? 'svc' : `svc.${stamped}`}` };
  const url = (domain: string): string =>
    `http://example-0.example.shop.svc${domain === '' ? '' : `.${domain}`}:2380`;
  const membership = aMembership(['example-0']);
  return anObservation({
    cluster: clusterFacts({ ...object, metadata: { ...object.metadata, annotations }, status: {} }),
    claims: [aClaim()],
    pods: pods === undefined ? [] : [aPod({ peerUrl: url(pods) })],
    ...(listed !== undefined &&
      membership.known && {
        membership: {
          ...membership,
          members: membership.members.map(member => ({ ...member, peerUrls: [url(listed)] })),
        },
      }),
  });
}

type Source = 'asked' | 'stamped' | 'pods' | 'listed';

describe('the domain of a cluster whose status was lost', () => {
  const OLD = 'corp.internal';
  const NEW = 'other.example';

  it.each<[string, Partial<Record<Source, string>>]>([
    ['the stamp and the pods, whatever is asked for by now', { asked: NEW, stamped: OLD, pods: OLD }],
    ['the stamp and a quorum', { asked: NEW, stamped: OLD, listed: OLD }],
    ['a quorum, beside a pod that somebody made', { asked: OLD, stamped: OLD, listed: OLD, pods: NEW }],
    ['the stamp and the specification, without pods', { asked: OLD, stamped: OLD }],
    ['the pods and the specification, without a stamp', { asked: OLD, pods: OLD }],
    ['the specification, when nothing else does', { asked: OLD }],
  ])('is the one of %s', (_, sources) => {
    expect(plan(forgotten(sources), {})).toMatchObject({
      step: {
        kind: 'recordIncarnation',
        incarnation: { members: [{ peerURL: `http://example-0.example.shop.svc.${OLD}:2380` }] },
      },
    });
  });

  it('is none when the stamp and the pods say so', () => {
    expect(plan(forgotten({ asked: NEW, stamped: '', pods: '' }), {})).toMatchObject({
      step: { incarnation: { members: [{ peerURL: 'http://example-0.example.shop.svc:2380' }] } },
    });
  });

  it.each<[string, Partial<Record<Source, string>>, string]>([
    ['pods speak against what is asked for', { asked: NEW, pods: OLD }, `write ${OLD} again`],
    ['pods speak against a domain where there was none', { asked: NEW, pods: '' }, 'remove spec.pod'],
    ['a quorum speaks against the stamp', { asked: OLD, stamped: NEW, listed: OLD }, 'remove the annotation'],
    ['pods speak against both', { asked: 'third.example', stamped: NEW, pods: OLD }, 'remove the annotation'],
    ['nothing shows which of the two is right', { asked: NEW, stamped: OLD }, `write ${OLD} again`],
    ['nothing shows whether it has one', { stamped: NEW }, `remove the annotation ${ANNOTATION_DOMAIN}`],
  ])('is not guessed when %s', (_, sources, advice) => {
    expect(plan(forgotten(sources), {})).toMatchObject({
      kind: 'blocked',
      reason: 'DomainChanged',
      message: expect.stringContaining(advice) as unknown,
      plan: [],
    });
  });

  it('is not read from the stamp of another resource, nor from a malformed one', () => {
    const { object } = aCluster({ spec: { pod: { ClusterDomain: OLD } } });
    const stampedWith = (stamp: string): string =>
      domainOf({ ...object, metadata: { ...object.metadata, annotations: { [ANNOTATION_DOMAIN]: stamp } } });
    expect(stampedWith('another-uid svc.other.example')).toBe(OLD);
    expect(stampedWith(`${object.metadata.uid} other.example`)).toBe(OLD);
    expect(stampedWith(`${object.metadata.uid} svc.other/../example:1`)).toBe(OLD);
    expect(stampedWith(`${object.metadata.uid} svc.other.example`)).toBe(NEW);
  });

  it('is stamped as it is recorded, not as it is asked for', () => {
    const { object } = aCluster({ spec: { pod: { ClusterDomain: NEW } }, status: aRunningStatus() });
    expect(domainStamp(object)).toBe(`${object.metadata.uid} svc`);
  });
});

describe('members whose URLs end in another domain', () => {
  it('are not cleaned up, and the message says what to write back', () => {
    const decision = planMembership(situationOf(renamed(left)));
    expect(decision).toMatchObject({ kind: 'blocked', reason: 'DomainChanged' });
    expect(decision?.kind === 'blocked' && decision.message).toContain('remove spec.pod.ClusterDomain');
  });

  it('are not replaced when they are lost, and the message says what to write back', () => {
    const { pods, claims, probes } = aRunningCluster();
    const isThere = ({ name }: { readonly name: string }) => name !== 'example-1';
    const silent = { ...probes, 'example-1': { answered: false as const, message: 'refused' } };
    const seen = { pods: pods.filter(isThere), claims: claims.filter(isThere), probes: silent };
    expect(plan(renamed(seen), {})).toMatchObject({ kind: 'blocked', reason: 'DomainChanged' });
    expect(plan(aRunningCluster(seen), {})).toMatchObject({ step: { kind: 'removeMember' } });
  });

  it('have what a removal left cleared away when they are ours', () => {
    expect(planMembership(situationOf(aRunningCluster(left)))).toMatchObject({
      kind: 'operate',
      step: { kind: 'retireMember', member: 'example-7' },
    });
  });
});

describe('members that users added', () => {
  it('keep what a removal left from being cleared away', () => {
    const whole = aRunningCluster(left);
    if (!whole.membership.known) throw new Error('unknown');
    const stranger = {
      id: 'beef',
      name: 'stranger',
      isLearner: false,
      peerUrls: ['http://stranger.elsewhere:2380'],
      started: true,
    };
    const membership = { ...whole.membership, members: [...whole.membership.members, stranger] };
    expect(planMembership(situationOf({ ...whole, membership }))).toMatchObject({
      kind: 'blocked',
      reason: 'ForeignMember',
      plan: [{ kind: 'retireMember' }],
    });
  });
});
