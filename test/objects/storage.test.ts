import { describe, expect, test } from 'vitest';
import { memberClaim } from '../../src/objects/claim.ts';
import { cluster, FULL_POD, TOKEN } from './clusters.ts';

describe('a member’s claim', () => {
  const claim = (spec: Parameters<typeof cluster>[0], storageClassName?: string) =>
    memberClaim(cluster(spec), { name: 'example-3', token: TOKEN, storageClassName });

  test('has no owner that garbage collection follows', () => {
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
