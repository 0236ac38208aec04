/** spec.storage: where members keep their data, and the rules that volumes cannot be shrunk or moved. */
import * as z from 'zod';
import { DEFAULT_CLAIM_SIZE, DEFAULT_RETAIN_DEAD_MEMBER } from './default-values.ts';
import {
  amounts,
  type CelRule,
  cel,
  duration,
  intOrString,
  kept,
  partlyRaw,
  quantityBetween,
  text,
  textMap,
} from './parts.schema.ts';

const SIZE = cel(
  intOrString(
    32,
    'Size of the volume, such as 8Gi. It can be raised later, and lowered only to the size that every volume has (status.storage.size).',
  ),
  {
    rule: "isQuantity(string(self)) && quantity(string(self)).isGreaterThan(quantity('0'))",
    message: 'must be a size above zero such as 8Gi',
  },
);

/** A core/v1 PersistentVolumeClaimSpec: what the operator reads is typed, the rest is passed through. */
export const CLAIM_SPEC = partlyRaw(
  {
    accessModes: z
      .array(text(64, 'An access mode.'))
      .max(8)
      .describe('Access modes. Absent: ReadWriteOnce.')
      .optional(),
    storageClassName: text(
      253,
      'StorageClass of the volume. Absent: the default class. It cannot be changed later.',
    ).optional(),
    resources: partlyRaw(
      {
        requests: partlyRaw({ storage: SIZE.optional() }, 'What the volume must offer.').optional(),
        limits: amounts('The most that the volume may offer.').optional(),
      },
      'Size of the volume.',
    ).optional(),
  },
  'The claim of each member (core/v1 PersistentVolumeClaimSpec).',
);

export const storage = cel(
  z
    .object({
      volumeClaimTemplate: z
        .object({
          metadata: z
            .object({
              labels: textMap(64, 63, 'Labels of the claims.').optional(),
              annotations: textMap(64, 65536, 'Annotations of the claims.').optional(),
            })
            .describe('Labels and annotations of the claims.')
            .optional(),
          spec: CLAIM_SPEC,
        })
        .describe(
          'One claim for each member, which outlives its pod. Its size may grow later, its class may not change.',
        )
        .optional(),
      emptyDir: z
        .object({
          medium: z.enum(['', 'Memory']).describe('Empty: the disk of the node. Memory: a tmpfs.').optional(),
          sizeLimit: quantityBetween('16Mi', '1Ti', 'The most that the directory may hold.').optional(),
        })
        .describe('Requests ephemeral members: deleting a pod then loses the member.')
        .optional(),
      retain: kept(
        z
          .enum(['Delete', 'Retain'])
          .describe('What happens to claims when the cluster is deleted or a member is removed.'),
        'Delete',
      ),
      retainDeadMemberFor: kept(
        duration(
          'How long the claim of a member that was removed as dead, or not by the operator, is kept, regardless of retain.',
        ),
        DEFAULT_RETAIN_DEAD_MEMBER,
      ),
    })
    .describe(
      'Where members store their data. Absent: a claim of the default StorageClass if there is one, otherwise an emptyDir.',
    ),
  {
    rule: '!(has(self.volumeClaimTemplate) && has(self.emptyDir))',
    message:
      'volumeClaimTemplate and emptyDir exclude each other: keep volumeClaimTemplate for durable members, emptyDir for ephemeral ones',
  },
);

/** CEL: the claim that a specification asks for has the field `path`. */
function claimPaths(object: string): {
  template: string;
  policy: string;
  hasTemplate: string;
  hasPolicy: string;
} {
  const template = `${object}.storage.volumeClaimTemplate`;
  const policy = `${object}.pod.persistentVolumeClaimSpec`;
  return {
    template: `${template}.spec`,
    policy,
    hasTemplate: `(has(${object}.storage) && has(${template}))`,
    hasPolicy: `(has(${object}.pod) && has(${policy}))`,
  };
}

const hasClaim = (object: string): string =>
  `(${claimPaths(object).hasTemplate} || ${claimPaths(object).hasPolicy})`;

const hasEmptyDir = (object: string): string => `(has(${object}.storage) && has(${object}.storage.emptyDir))`;

/** CEL: `read` of whichever of the two forms names a claim, `otherwise` when that claim does not say. */
function ofClaim(
  object: string,
  read: (claim: string) => { has: string; value: string },
  otherwise: string,
): string {
  const { template, policy, hasTemplate, hasPolicy } = claimPaths(object);
  const [first, second] = [read(template), read(policy)];
  return `(${hasTemplate} ? (${first.has} ? ${first.value} : ${otherwise}) : (${hasPolicy} && ${second.has} ? ${second.value} : ${otherwise}))`;
}

const sizeOf = (object: string): string =>
  ofClaim(
    object,
    claim => ({
      has: `has(${claim}.resources) && has(${claim}.resources.requests) && has(${claim}.resources.requests.storage)`,
      value: `string(${claim}.resources.requests.storage)`,
    }),
    `'${DEFAULT_CLAIM_SIZE}'`,
  );

const classOf = (object: string): string =>
  ofClaim(
    object,
    claim => ({ has: `has(${claim}.storageClassName)`, value: `${claim}.storageClassName` }),
    "''",
  );

/**
 * Rules between the old and the new object, written for the root of EtcdCluster. `begun` is CEL: something may exist that is not made
 * again from the new specification.
 */
export function storageTransitions(begun: string): readonly CelRule[] {
  const [now, before] = ['self.spec', 'oldSelf.spec'];
  const bothClaims = `${hasClaim(now)} && ${hasClaim(before)}`;
  // What every volume has: a size that the storage turned out not to give can be taken back to it.
  const recorded = 'oldSelf.status.storage.size';
  const hasSize = `has(oldSelf.status) && has(oldSelf.status.storage) && has(${recorded}) && isQuantity(${recorded})`;
  const quantities = `isQuantity(${sizeOf(now)}) && isQuantity(${sizeOf(before)})`;
  return [
    {
      rule: `!(${begun} && ${bothClaims} && ${quantities}) || quantity(${sizeOf(now)}).compareTo(quantity(${sizeOf(before)})) >= 0 || (${hasSize} && quantity(${sizeOf(now)}).compareTo(quantity(${recorded})) >= 0)`,
      message:
        'a volume cannot be shrunk: write the old size or a larger one, or at least status.storage.size, which every volume has; for smaller volumes make a new cluster and restore a backup into it',
      fieldPath: '.spec',
    },
    {
      rule: `!(${begun} && ${bothClaims}) || ${classOf(now)} == ${classOf(before)}`,
      message:
        'the StorageClass of a cluster cannot be changed: write the old one; to move, make a new cluster and restore a backup into it',
      fieldPath: '.spec',
    },
    {
      rule: `!(${begun}) || !((${hasEmptyDir(now)} && ${hasClaim(before)}) || (${hasClaim(now)} && ${hasEmptyDir(before)}))`,
      message:
        'members cannot move between volumes and emptyDir: write the old form; to move, make a new cluster and restore a backup into it',
      fieldPath: '.spec',
    },
  ];
}
