/** The conditions that judge what a specification asks for. Pure data; see catalogue.ts. */
import type { ConditionTable } from './table.ts';

export const SPEC_CONDITIONS = {
  /** Does this operator run that version of etcd? */
  VersionSupported: {
    True: {
      Supported: ['This operator supports this etcd version.'],
      NewerThanKnown: ['The minor is supported; the patch release is newer than this operator.'],
    },
    False: {
      TooOld: [
        'The version is out of support; nothing is created or changed for it.',
        'Set spec.version to a supported one.',
      ],
      TooNew: [
        'This operator does not know the minor version; nothing is created or changed for it.',
        'Set spec.version to a supported one, or upgrade the operator.',
      ],
      Malformed: ['The version is not of the form x.y.z.', 'Set spec.version to a release of etcd.'],
    },
  },
  /** Is something known against that version? */
  VersionOutdated: {
    True: {
      BelowDataLossFloor: [
        'The version has a known bug that can lose data or a member.',
        'Upgrade to the version that the message names.',
      ],
      BelowSecurityFloor: [
        'The version has a known vulnerability.',
        'Upgrade to the version that the message names.',
      ],
    },
    False: { UpToDate: ['The version has no known problem.'] },
  },
  /** Can the specification be carried out? */
  SpecValid: {
    True: { Valid: ['The specification is valid.'] },
    False: {
      Invalid: [
        'The specification contradicts itself or etcd; nothing is changed for it.',
        'Read the message, which names the fields.',
      ],
    },
  },
  /** Is something asked for that is not done? */
  FieldsIgnored: {
    True: {
      SomeIgnored: [
        'Fields are set that are accepted but have no effect; the message lists them.',
        'Remove them, or accept that they have no effect.',
      ],
    },
    False: { NoneIgnored: ['Every field that is set has an effect.'] },
  },
  /** Is something left out that a new cluster would be given another value for? */
  FieldsKept: {
    True: {
      SomeKept: [
        'Fields that the specification omits keep their previous value; the message lists them.',
        'Nothing, or write the value that you want.',
      ],
    },
  },
  /** Is the size one that costs a member without gaining anything? */
  EvenSize: {
    True: {
      NoExtraTolerance: [
        'An even number of members tolerates no more failures than one less.',
        'Prefer 1, 3, 5 or 7.',
      ],
    },
    False: { OddSize: ['The size is odd.'] },
  },
  /** May the volume become full? */
  StorageTight: {
    True: {
      VolumeTooSmall: [
        'The volume is smaller than three times the quota and 2Gi: defragmentation and snapshots may fill it.',
        'Expand the volume or lower spec.etcd.quotaBackendBytes.',
      ],
    },
    False: { VolumeLargeEnough: ['The volume has space for quota, log and defragmentation.'] },
  },
  /** Can the cluster be secured as asked? */
  TLSSupported: {
    True: { Supported: ['The TLS settings are valid.'] },
    False: { SeveralModes: ['More than one of static, auto and certManager is set.', 'Keep one of them.'] },
  },
} as const satisfies ConditionTable;
