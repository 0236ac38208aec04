import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import { createScrubber, scrubError, scrubValue } from '../../src/telemetry/scrub.ts';

const scrub = createScrubber(['canary-7f3a9c']);
const pem = '-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\nq83v7w==\n-----END RSA PRIVATE KEY-----';
const jwt = 'eyJhbGciOiJSUzI1NiIsImtpZCI6IiJ9.eyJzdWIiOiJzeXN0ZW06c2VydmljZWFjY291bnQifQ.c2lnbmF0dXJl';

/** What must be gone, and what must still be there. */
const texts: readonly [name: string, text: string, gone: string, kept: string][] = [
  ['a PEM block', `cannot load ${pem} as a key`, 'MIIEow', 'as a key'],
  ['a PEM block in JSON', `{"tls.key":"${pem.replaceAll('\n', '\\n')}","name":"x"}`, 'MIIEow', '"name":"x"'],
  ['a PEM block cut short', `bad key: ${pem.slice(0, 50)}`, 'MIIEow', 'bad key'],
  ['a certificate', `peer sent ${pem.replaceAll('RSA PRIVATE KEY', 'CERTIFICATE')}`, 'MIIEow', 'peer sent'],
  [
    'a bearer token',
    'header authorization: Bearer s3cr3t-t0k3n-value was refused',
    's3cr3t-t0k3n',
    'was refused',
  ],
  ['basic authentication', 'Authorization: Basic cm9vdDpodW50ZXIy', 'cm9vdDpodW50ZXIy', 'Authorization'],
  ['a JWT', `unknown user ${jwt} (401)`, 'eyJ', '(401)'],
  [
    'a URL with a password',
    'GET https://root:hunter22@etcd.prod:2379/v3 failed',
    'hunter22',
    '@etcd.prod:2379/v3',
  ],
  ['a URL with a user only', 'dial ftp://token123@host/path', 'token123', 'host/path'],
  [
    'an S3 presigned URL',
    'PUT https://b.s3.eu.example/k?partNumber=3&X-Amz-Credential=AKIAQQ%2F2026&X-Amz-Signature=deadbeef01 403',
    'deadbeef01',
    'partNumber=3',
  ],
  ['a GCS presigned URL', 'https://g.example/b/o?X-Goog-Signature=feed&alt=media', 'feed', 'alt=media'],
  ['an Azure SAS URL', 'https://a.example/c/b?sv=2024&sig=abc%2Fdef&se=1', 'abc%2Fdef', 'sv=2024'],
  ['an access key', 'the key AKIAIOSFODNN7EXAMPLE does not exist', 'AKIAIOSFODNN7EXAMPLE', 'does not exist'],
  ['an assignment', 'env secret_access_key=wJalrXUtnFEMI/K7MDENG is bad', 'wJalrXUtnFEMI', 'is bad'],
  ['a JSON field', '{"password": "hun\\"ter22", "user": "root"}', 'ter22', '"user": "root"'],
  [
    'a JSON field in a JSON text',
    '{"body":"{\\"clientSecret\\":\\"hunter22\\"}"}',
    'hunter22',
    'clientSecret',
  ],
  ['a canary', 'path /tmp/canary-7f3a9c/x', 'canary-7f3a9c', '/x'],
];

describe('text', () => {
  test.each(texts)('%s goes, the rest stays', (_, text, gone, kept) => {
    expect(text).toContain(gone);
    expect(scrub(text)).not.toContain(gone);
    expect(scrub(text)).toContain(kept);
  });

  test.each([
    'spec.tls.privateKey: Required value',
    'Secret default/example-client-tls has no key tls.crt',
    'POST /api/v1/namespaces/default/pods: 409 AlreadyExists: pods "example-0" already exists',
    'member 8e9e05c52164694d at http://10.244.1.3:2380 is not in sync with the leader',
    'etcdcluster/default/example/0d1f2a3b',
    'a basic requirement is not met',
    'mail a@b.example about https://host/x?limit=500&continue=abc',
  ])('an ordinary message is left alone: %s', text => {
    expect(scrub(text)).toBe(text);
  });

  test('what becomes known later is taken out from then on', () => {
    const secrets = new Set<string>();
    const later = createScrubber(secrets);
    expect(later('a key-of-temporal')).toBe('a key-of-temporal');
    secrets.add('key-of-temporal');
    expect(later('a key-of-temporal')).toBe('a [redacted]');
  });

  test('short canaries are ignored', () => {
    expect(createScrubber(['', 'a', 'etcd'])('a member of etcd')).toBe('a member of etcd');
  });

  test('a long hostile text takes no noticeable time', () => {
    const started = performance.now();
    for (const hostile of [
      'a://'.repeat(20_000),
      '-----BEGIN A-----'.repeat(5_000),
      `"password":"${'\\'.repeat(50_000)}`,
    ]) {
      scrub(hostile);
    }
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});

describe('values', () => {
  test('fields that name a credential lose their value at any depth, others keep it', () => {
    const fields = {
      secretName: 'example-tls',
      auth: { password: 'hunter22', apiKey: ['a', 'b'], user: 'root' },
      headers: [{ Authorization: 'x' }],
      count: 3,
    };
    expect(scrubValue(fields, scrub)).toEqual({
      secretName: 'example-tls',
      auth: { password: '[redacted]', apiKey: '[redacted]', user: 'root' },
      headers: [{ Authorization: '[redacted]' }],
      count: 3,
    });
  });

  test('the data of a Secret is left out, that of a ConfigMap is not', () => {
    const secret = { kind: 'Secret', metadata: { name: 's' }, data: { a: 'eA==' }, stringData: { b: 'x' } };
    expect(scrubValue([secret, { kind: 'ConfigMap', data: { a: 'x' } }], scrub)).toEqual([
      { kind: 'Secret', metadata: { name: 's' }, data: '[redacted]', stringData: '[redacted]' },
      { kind: 'ConfigMap', data: { a: 'x' } },
    ]);
  });

  test('an error gives its texts and nothing that a client hung on it', () => {
    const error = Object.assign(new Error('sent canary-7f3a9c', { cause: new Error(jwt) }), {
      hungOn: { headers: { authorization: 'Bearer abc' } },
    });
    const text = JSON.stringify(scrubValue({ error }, scrub));
    expect(text).toContain('sent [redacted]');
    expect(text).not.toMatch(/canary-7f3a9c|eyJ|hungOn|Bearer|abc/);
  });

  test('what JSON cannot hold becomes something it can, and a cycle ends', () => {
    const cycle: Record<string, unknown> = {
      id: 9007199254740993n,
      at: new Date(0),
      bytes: new Uint8Array(3),
    };
    cycle['self'] = cycle;
    const clean = scrubValue(cycle, scrub);
    expect(clean).toMatchObject({
      id: '9007199254740993',
      at: '1970-01-01T00:00:00.000Z',
      bytes: '[3 bytes]',
    });
    expect(JSON.stringify(clean)).toContain('[too deep]');
  });
});

describe('errors', () => {
  test('keep their class and what decides about retries', () => {
    const cause = new TypeError(`token ${jwt}`);
    const failure = ApplicationFailure.create({
      message: 'GET https://u:hunter22@host/',
      type: 'PreconditionChanged',
      nonRetryable: true,
      details: [{ password: 'hunter22', member: 'example-0' }, 'canary-7f3a9c'],
      nextRetryDelay: '2s',
      cause,
    });
    expect(scrubError(failure, scrub)).toBe(failure);
    expect(failure).toBeInstanceOf(ApplicationFailure);
    expect(failure).toMatchObject({
      message: 'GET https://[redacted]@host/',
      type: 'PreconditionChanged',
      nonRetryable: true,
      nextRetryDelay: '2s',
      details: [{ password: '[redacted]', member: 'example-0' }, '[redacted]'],
    });
    expect(failure.stack).not.toContain('hunter22');
    expect(cause.message).toBe('token [redacted JWT]');
    expect(cause.stack).not.toContain('eyJ');
  });

  test('a cancellation stays a cancellation', () => {
    expect(scrubError(new CancelledFailure('CANCELLED'), scrub)).toBeInstanceOf(CancelledFailure);
  });

  test('what is not an Error becomes one', () => {
    expect(scrubError('Bearer abcdefghij', scrub).message).toBe('Bearer [redacted]');
  });

  test('causes that form a ring end', () => {
    const a = new Error('canary-7f3a9c a');
    const b = new Error('canary-7f3a9c b', { cause: a });
    a.cause = b;
    scrubError(a, scrub);
    expect([a.message, b.message]).toEqual(['[redacted] a', '[redacted] b']);
  });
});
