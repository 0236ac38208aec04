import { status } from '@grpc/grpc-js';
import { describe, expect, test } from 'vitest';
import { toEtcdError } from '../../src/etcd/failure.ts';
import { EtcdError, type EtcdErrorCode } from '../../src/etcd/port.ts';

const CALL = { what: 'status', address: '10.244.1.5:2379' };

const UNAVAILABLE = '14 UNAVAILABLE: ';

describe('what etcd and grpc say becomes one code', () => {
  const rows: readonly (readonly [EtcdErrorCode, string])[] = [
    ['learner', `${UNAVAILABLE}etcdserver: rpc not supported for learner`],
    ['no-leader', `${UNAVAILABLE}etcdserver: no leader`],
    ['no-leader', `${UNAVAILABLE}etcdserver: leader changed`],
    ['timeout', `${UNAVAILABLE}etcdserver: request timed out`],
    ['timeout', `${UNAVAILABLE}etcdserver: request timed out, possibly due to connection lost`],
    ['timeout', '4 DEADLINE_EXCEEDED: Deadline exceeded after 2.001s'],
    ['timeout', '4 DEADLINE_EXCEEDED: context deadline exceeded'],
    [
      'unreachable',
      `${UNAVAILABLE}No connection established. Last error: connect ECONNREFUSED 10.244.1.5:2379`,
    ],
    ['unreachable', `${UNAVAILABLE}etcdserver: server stopped`],
    ['unreachable', `${UNAVAILABLE}unable to verify the first certificate`],
    [
      'unreachable',
      '13 INTERNAL: Received RST_STREAM with code 2 triggered by internal client error: read ECONNRESET',
    ],
    ['denied', '7 PERMISSION_DENIED: etcdserver: permission denied'],
    ['denied', '16 UNAUTHENTICATED: etcdserver: invalid auth token'],
    ['denied', '3 INVALID_ARGUMENT: etcdserver: user name is empty'],
    ['denied', '3 INVALID_ARGUMENT: etcdserver: authentication failed, invalid user ID or password'],
    ['other', `${UNAVAILABLE}etcdserver: not capable`],
    ['no-space', '8 RESOURCE_EXHAUSTED: etcdserver: mvcc: database space exceeded'],
    ['other', '13 INTERNAL: Response message parsing error'],
    ['other', '1 CANCELLED: the connection was closed'],
    ['other', 'Tried to call a KV method on etcd3, but the client was already closed'],
  ];

  test.each(rows)('%s: %s', (code, message) => {
    expect(toEtcdError(new Error(message), CALL).code).toBe(code);
  });

  test.each(rows)('%s, also behind the class name that etcd3 puts before it: %s', (code, message) => {
    expect(toEtcdError(new Error(`GRPCSomethingError: ${message}`), CALL).code).toBe(code);
  });
});

test('every grpc code has a translation', () => {
  const codes = Object.keys(status).filter(name => Number.isNaN(Number(name)));
  expect(codes.length).toBeGreaterThan(15);
  for (const [number, name] of codes.entries()) {
    expect(toEtcdError(new Error(`${number} ${name}: text`), CALL)).toBeInstanceOf(EtcdError);
  }
});

test('the message says which call to which member failed, and why, without grpc’s empty note', () => {
  const error = new Error(`${UNAVAILABLE}connect ECONNREFUSED 10.244.1.5:2379 Resolution note: `);
  expect(toEtcdError(error, CALL).message).toBe(
    'status of the member at 10.244.1.5:2379 failed: connect ECONNREFUSED 10.244.1.5:2379',
  );
});

test('a failure that is translated already stays what it is, and what is no error is said', () => {
  const known = new EtcdError('learner', 'said');
  expect(toEtcdError(known, CALL)).toBe(known);
  expect(toEtcdError('just text', CALL)).toMatchObject({ code: 'other', message: /just text/ });
});
