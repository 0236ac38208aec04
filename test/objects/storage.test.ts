import { describe, expect, test } from 'vitest';
import { memberClaim } from '../../src/objects/claim.ts';
import { storageFor } from '../../src/objects/storage.ts';
import { cluster, FULL_POD, TOKEN } from './clusters.ts';

describe('where the data goes', () => {
  test('nothing asked: a claim of the default class, or else an ephemeral member', () => {
    expect(storageFor({}, true)).toEqual({
      kind: 'PersistentVolumeClaim',
      size: '8Gi',
      decidedBy: 'DefaultStorageClass',
    });
    expect(storageFor({}, false)).toEqual({ kind: 'EmptyDir', decidedBy: 'NoDefaultStorageClass' });
    expect(storageFor({ storage: { retain: 'Retain' } }, true).kind).toBe('PersistentVolumeClaim');
  });

  test.each([true, false])('what is asked for is given, default class or not (%s)', hasDefault => {
    expect(storageFor({ storage: { emptyDir: {} } }, hasDefault)).toEqual({
      kind: 'EmptyDir',
      decidedBy: 'Spec',
    });
    expect(storageFor(FULL_POD, hasDefault)).toEqual({
      kind: 'PersistentVolumeClaim',
      size: '40Gi',
      storageClassName: 'fast',
      decidedBy: 'Spec',
    });
    const old = { pod: { persistentVolumeClaimSpec: { resources: { requests: { storage: '1Gi' } } } } };
    expect(storageFor(old, hasDefault)).toEqual({
      kind: 'PersistentVolumeClaim',
      size: '1Gi',
      decidedBy: 'Spec',
    });
  });
});

describe('a member’s claim', () => {
  const claim = (spec: Parameters<typeof cluster>[0], storageClassName?: string) =>
    memberClaim(cluster(spec), { name: 'example-3', token: TOKEN, storageClassName });

  test('belongs to nobody whom garbage collection follows', () => {
    expect(claim(FULL_POD).metadata).not.toHaveProperty('ownerReferences');
  });

  test('takes the recorded class only where the template names none', () => {
    expect(claim({}, 'recorded').spec['storageClassName']).toBe('recorded');
    expect(claim(FULL_POD, 'recorded').spec['storageClassName']).toBe('fast');
    expect(claim({}).spec).not.toHaveProperty('storageClassName');
  });

  test('keeps an empty class, which means: no dynamic volume', () => {
    const spec = { storage: { volumeClaimTemplate: { spec: { storageClassName: '' } } } };
    expect(claim(spec, 'recorded').spec['storageClassName']).toBe('');
  });
});
