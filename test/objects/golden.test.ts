import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { disruptionBudget } from '../../src/objects/budget.ts';
import { memberClaim } from '../../src/objects/claim.ts';
import type { ManifestObject } from '../../src/objects/manifest.ts';
import { memberPod, type PodMember } from '../../src/objects/pod.ts';
import { clientService, peerService } from '../../src/objects/services.ts';
import type { EtcdCluster } from '../../src/api/schemas/types.ts';
import { CLUSTERS } from './clusters.ts';

/** Everything that a cluster of one member is made of. */
function objectsOf(cluster: EtcdCluster, member: PodMember): readonly ManifestObject[] {
  const claim = memberClaim(cluster, member);
  return [
    peerService(cluster),
    clientService(cluster),
    disruptionBudget(cluster, 2),
    ...(member.storage === 'PersistentVolumeClaim' ? [claim] : []),
    memberPod(cluster, member),
  ];
}

/** Freezes in depth: a builder that writes into what it was given throws. */
function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}

describe.each(CLUSTERS)('$title', ({ title, cluster, member }) => {
  test('is what the golden file says', async () => {
    const documents = objectsOf(cluster, member).map(object =>
      stringify(object, { aliasDuplicateObjects: false }),
    );
    await expect(documents.join('---\n')).toMatchFileSnapshot(`../golden/objects/${title}.yaml`);
  });

  test('is built twice the same, and out of nothing that it changes', () => {
    frozen(cluster);
    frozen(member);
    expect(objectsOf(cluster, member)).toEqual(objectsOf(structuredClone(cluster), structuredClone(member)));
  });

  test('is JSON: nothing is undefined, and a round trip loses nothing', () => {
    for (const object of objectsOf(cluster, member)) {
      expect(JSON.parse(JSON.stringify(object))).toStrictEqual(object);
    }
  });
});
