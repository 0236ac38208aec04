import { describe, expect, test } from 'vitest';
import { parseObject } from '../../src/kube/json.ts';

const PATH = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const parsed = (object: unknown) => parseObject(JSON.stringify(object), PATH);
const REVIEW = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };

describe('an object in an answer', () => {
  test.each([
    ['an empty metadata', { ...REVIEW, metadata: { creationTimestamp: null }, status: { a: 1 } }],
    ['no metadata', { ...REVIEW, status: { a: 1 } }],
  ])('that is a review with %s is read: it is never stored and has no name', (_, review) => {
    expect(parsed(review)).toMatchObject({ ...REVIEW, metadata: { name: '' }, status: { a: 1 } });
  });

  test.each([
    ['of another kind without a name', { apiVersion: 'v1', kind: 'Pod', metadata: {} }],
    ['without a kind', { apiVersion: 'v1', metadata: { name: 'a' } }],
    ['that is a review with odd metadata', { ...REVIEW, metadata: [] }],
    ['that is a list', []],
  ])('%s is no answer', (_, object) => {
    expect(() => parsed(object)).toThrow('is not a Kubernetes object');
  });
});
