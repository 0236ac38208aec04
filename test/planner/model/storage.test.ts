import { describe, expect, it } from 'vitest';
import type { EtcdClusterSpec, StorageStatus } from '../../../src/api/schemas/types.ts';
import { storageFor } from '../../../src/planner/model/storage.ts';
import { aCluster, anObservation } from '../../worlds/builders.ts';

describe('where a new cluster keeps its data', () => {
  const cases: readonly [
    title: string,
    spec: EtcdClusterSpec,
    defaultClass: string | undefined,
    StorageStatus,
  ][] = [
    [
      'on claims of the default class when nothing is said',
      {},
      'standard',
      {
        kind: 'PersistentVolumeClaim',
        storageClassName: 'standard',
        size: '8Gi',
        decidedBy: 'DefaultStorageClass',
      },
    ],
    [
      'in the pods when nothing is said and there is no default class',
      {},
      undefined,
      { kind: 'EmptyDir', decidedBy: 'NoDefaultStorageClass' },
    ],
    [
      'in the pods when that is asked for, also beside a default class',
      { storage: { emptyDir: {} } },
      'standard',
      { kind: 'EmptyDir', decidedBy: 'Spec' },
    ],
    [
      'on claims as the template says',
      {
        storage: {
          volumeClaimTemplate: {
            spec: { storageClassName: 'fast', resources: { requests: { storage: '40Gi' } } },
          },
        },
      },
      'standard',
      { kind: 'PersistentVolumeClaim', storageClassName: 'fast', size: '40Gi', decidedBy: 'Spec' },
    ],
    [
      'on claims as the pod policy of the CoreOS operator says, of the default class when it names none',
      { pod: { persistentVolumeClaimSpec: { resources: { requests: { storage: 5 } } } } },
      'standard',
      { kind: 'PersistentVolumeClaim', storageClassName: 'standard', size: '5', decidedBy: 'Spec' },
    ],
    [
      'on claims without a class when the template names none and there is no default',
      { storage: { volumeClaimTemplate: { spec: {} } } },
      undefined,
      { kind: 'PersistentVolumeClaim', size: '8Gi', decidedBy: 'Spec' },
    ],
    [
      'on claims of the empty class, which is a class, when the template names it',
      { storage: { volumeClaimTemplate: { spec: { storageClassName: '' } } } },
      'standard',
      { kind: 'PersistentVolumeClaim', storageClassName: '', size: '8Gi', decidedBy: 'Spec' },
    ],
  ];
  it.each(cases)('%s', (_, spec, defaultStorageClass, expected) => {
    expect(storageFor(anObservation({ cluster: aCluster({ spec }), defaultStorageClass }))).toEqual(expected);
  });
});
