import { describe, expect, it } from 'vitest';
import { backoffDelay } from '../../src/kube/backoff.ts';
import { errorFields, isConflict, isNamespaceTerminating, KubeError } from '../../src/kube/errors.ts';
import { collectionPath, objectPath } from '../../src/kube/resources.ts';
import { errorFromNetwork, errorFromResponse, parseRetryAfter } from '../../src/kube/status.ts';

const request = { method: 'PATCH', path: '/api/v1/namespaces/default/pods/a' };
const from = (code: number, body: unknown, retryAfter?: string) =>
  errorFromResponse(request, {
    code,
    text: typeof body === 'string' ? body : JSON.stringify(body),
    retryAfter,
  });

describe('an error from an answer', () => {
  it.each([
    [400, 'BadRequest', 'never'],
    [401, 'Unauthorized', 'later'],
    [403, 'Forbidden', 'later'],
    [404, 'NotFound', 'never'],
    [409, 'Conflict', 'now'],
    [410, 'Expired', 'now'],
    [413, 'RequestEntityTooLarge', 'never'],
    [422, 'Invalid', 'never'],
    [429, 'TooManyRequests', 'later'],
    [500, 'InternalError', 'later'],
    [503, 'ServiceUnavailable', 'later'],
    [504, 'Timeout', 'later'],
    [418, 'Unknown', 'never'],
  ])('of code %i without a Status is %s, to be tried again %s', (code, reason, retry) => {
    expect(from(code, '')).toMatchObject({ code, reason, retry });
  });

  it('takes reason, message, causes and patience from a Status', () => {
    const details = {
      retryAfterSeconds: 2,
      causes: [{ reason: 'NamespaceTerminating', message: 'm', field: 'f' }, 'junk'],
    };
    const error = from(403, {
      kind: 'Status',
      reason: 'Forbidden',
      message: 'namespace x is being terminated',
      details,
    });
    expect(error).toMatchObject({
      retryAfterMs: 2_000,
      causes: [{ reason: 'NamespaceTerminating', message: 'm', field: 'f' }],
    });
    expect(error.message).toBe(`PATCH ${request.path}: 403 Forbidden: namespace x is being terminated`);
    expect(isNamespaceTerminating(error)).toBe(true);
    expect(from(409, { kind: 'Status', reason: 'AlreadyExists' })).toMatchObject({ retry: 'never' });
  });

  it.each([
    ['system:public-info-viewer", clusterrole.rbac.authorization.k8s.io "system:basic-user', 503],
    ['system:basic-user', 503],
    ['of-a-team', 403],
  ])('of an API server that knows no role %s is of code %i', (role, code) => {
    // Seen in the second after a start of kube-apiserver 1.35: it has not read the roles by which it judges.
    const message = `pods is forbidden: User "a" cannot list resource "pods": RBAC: [clusterrole.rbac.authorization.k8s.io "${role}" not found]`;
    const error = from(403, { kind: 'Status', reason: 'Forbidden', message });
    expect(error).toMatchObject({ code, retry: 'later' });
    expect(error.message).toContain(message);
  });

  it('takes the first line of a text, and cuts long messages', () => {
    expect(from(503, 'overloaded\nstack trace').message).toMatch(/: overloaded$/);
    expect(from(500, { kind: 'Status', message: 'x'.repeat(9_000) }).message.length).toBeLessThan(1_200);
  });

  it('calls an apply to another incarnation a conflict', () => {
    const causes = [{ reason: 'FieldValueInvalid', message: 'field is immutable', field: 'metadata.uid' }];
    expect(from(422, { kind: 'Status', reason: 'Invalid', details: { causes } })).toSatisfy(isConflict);
  });

  it('logs as code, reason and text; foreign errors as their class', () => {
    expect(errorFields(from(404, ''))).toEqual({
      code: 404,
      reason: 'NotFound',
      error: `PATCH ${request.path}: 404 NotFound`,
    });
    expect(errorFields(new RangeError('token'))).toEqual({ error: 'RangeError' });
    expect(errorFields('token')).toEqual({ error: 'string' });
  });
});

describe('an error from the network', () => {
  it('knows by its code whether anything was sent, also inside wrappers', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    expect(errorFromNetwork(request, refused)).toMatchObject({ reason: 'NetworkError', notProcessed: true });
    expect(errorFromNetwork(request, new Error('x', { cause: refused }))).toMatchObject({
      notProcessed: true,
    });
    expect(errorFromNetwork(request, new AggregateError([refused]))).toMatchObject({ notProcessed: true });
    const reset = Object.assign(new Error('reset'), { code: 'ECONNRESET' });
    expect(errorFromNetwork(request, reset)).toMatchObject({ notProcessed: false, retry: 'later' });
    expect(errorFromNetwork(request, undefined)).toBeInstanceOf(KubeError);
  });
});

describe('Retry-After', () => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  it.each([
    [undefined, undefined],
    ['3', 3_000],
    ['0', 0],
    ['Thu, 01 Jan 2026 00:00:10 GMT', 10_000],
    ['Thu, 01 Jan 2015 00:00:10 GMT', 0],
    ['soon', undefined],
  ])('%j is %j ms', (header, ms) => {
    expect(parseRetryAfter(header, now)).toBe(ms);
  });
});

describe('back-off', () => {
  it('doubles up to its maximum, never waits less than asked, and never forever', () => {
    const backoff = { firstMs: 100, maxMs: 1_000 };
    for (let failures = 1; failures < 50; failures += 1) {
      const whole = Math.min(1_000, 100 * 2 ** (failures - 1));
      const wait = backoffDelay(backoff, failures);
      expect(wait).toBeGreaterThanOrEqual(whole / 2);
      expect(wait).toBeLessThanOrEqual(whole);
    }
    expect(backoffDelay(backoff, 1, 5_000)).toBeGreaterThanOrEqual(5_000);
    expect(backoffDelay(backoff, 1, 1e12)).toBeLessThanOrEqual(300_100);
  });
});

describe('paths', () => {
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };
  it.each([
    [
      objectPath({ ...lease, namespace: 'ops', name: 'x' }),
      '/apis/coordination.k8s.io/v1/namespaces/ops/leases/x',
    ],
    [collectionPath(lease), '/apis/coordination.k8s.io/v1/leases'],
    [objectPath({ apiVersion: 'v1', kind: 'Node', name: 'n' }), '/api/v1/nodes/n'],
    [
      objectPath(
        { apiVersion: 'etcd.database.coreos.com/v1beta2', kind: 'EtcdCluster', namespace: 'a', name: 'b' },
        'status',
      ),
      '/apis/etcd.database.coreos.com/v1beta2/namespaces/a/etcdclusters/b/status',
    ],
  ])('%s', (path, expected) => {
    expect(path).toBe(expected);
  });

  it('of kinds, names and namespaces that cannot be are refused', () => {
    expect(() => collectionPath({ apiVersion: 'v1', kind: 'Node' }, 'default')).toThrow(/not namespaced/);
    expect(() => objectPath({ ...lease, name: 'x' })).toThrow(/no namespace/);
    expect(() => objectPath({ ...lease, namespace: '', name: 'x' })).toThrow(/not a name/);
    expect(() => collectionPath({ apiVersion: 'v2', kind: 'Pod' })).toThrow(/resources.ts/);
  });
});
