/** A secret is found in whatever dress it is written. */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { leaks } from '../stack/leaks.ts';

const SECRET = 'canary/with+"odd" signs-1f3';

describe('a secret', () => {
  it.each([
    ['as it is', SECRET],
    ['within JSON', JSON.stringify({ password: SECRET })],
    ['within a URL', `https://store/?key=${encodeURIComponent(SECRET)}`],
    ['as hex', Buffer.from(SECRET).toString('hex')],
    ...Array.from({ length: 6 }, (_, offset) => {
      const bytes = Buffer.concat([randomBytes(offset), Buffer.from(SECRET), randomBytes(5)]);
      return [`in base64 after ${offset} bytes`, bytes.toString('base64')];
    }),
    ['in base64url', Buffer.from(JSON.stringify([SECRET])).toString('base64url')],
  ])('is found %s', (_how = '', text = '') => {
    expect(leaks(['another-secret', SECRET], [{ where: 'a log', text: `before ${text} after` }])).toEqual([
      'secret 2 is in a log',
    ]);
  });

  it('is not found where it is not', () => {
    const text = randomBytes(4_000).toString('base64');
    expect(leaks([SECRET], [{ where: 'a log', text }])).toEqual([]);
  });
});
