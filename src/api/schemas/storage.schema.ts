/** spec.storage: where members keep their data, and the rule that members do not move between volumes and their pods. */
import * as z from 'zod';
import { DEFAULT_RETAIN_DEAD_MEMBER } from './default-values.ts';
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
    'Size of the volume, such as 8Gi. When it is raised, volumes are expanded; when it is lowered below status.storage.size, members are replaced one at a time by members with smaller volumes.',
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
      'StorageClass of the volume. Absent: the default class. When it is changed, members are replaced one at a time by members with volumes of the new class.',
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
          'One claim for each member, which outlives its pod. Volumes are expanded when a larger size is asked for; for another class, or a smaller size, members are replaced one at a time.',
        )
        .optional(),
      emptyDir: z
        .object({
          medium: z.enum(['', 'Memory']).describe('Empty: the disk of the node. Memory: a tmpfs.').optional(),
          sizeLimit: quantityBetween('16Mi', '1Ti', 'The most that the directory may hold.').optional(),
        })
        .describe(
          'Requests ephemeral members: deleting a pod then loses the member. Evictions are refused until the operator has replaced it.',
        )
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

/** CEL: the specification asks for claims, in one of the two forms. */
const hasClaim = (object: string): string =>
  `((has(${object}.storage) && has(${object}.storage.volumeClaimTemplate)) || (has(${object}.pod) && has(${object}.pod.persistentVolumeClaimSpec)))`;

const hasEmptyDir = (object: string): string => `(has(${object}.storage) && has(${object}.storage.emptyDir))`;

/**
 * Rules between the old and the new object, written for the root of EtcdCluster. `begun` is CEL: something may exist that is not made
 * again from the new specification.
 */
export function storageTransitions(begun: string): readonly CelRule[] {
  const [now, before] = ['self.spec', 'oldSelf.spec'];
  return [
    {
      rule: `!(${begun}) || !((${hasEmptyDir(now)} && ${hasClaim(before)}) || (${hasClaim(now)} && ${hasEmptyDir(before)}))`,
      message:
        'members cannot move between volumes and emptyDir: write the old form; to move, make a new cluster and restore a backup into it',
      fieldPath: '.spec',
    },
  ];
}
