import { expect, test } from 'vitest';
import { RecentSecrets } from '../../src/telemetry/recent-secrets.ts';
import { createScrubber } from '../../src/telemetry/scrub.ts';

const token = (number: number): string => `token-number-${number};`;

test('a token that is renewed again and again is forgotten once it is old, and what must always be hidden is not', () => {
  const secrets = new RecentSecrets(['always-hidden'], 3);
  const scrub = createScrubber(secrets);
  for (let number = 1; number <= 1_000; number += 1) secrets.add(token(number));
  expect([...secrets]).toEqual(['always-hidden', token(998), token(999), token(1_000)]);
  expect(scrub(`always-hidden ${token(998)} ${token(1_000)}`)).toBe('[redacted] [redacted] [redacted]');
});

test('one that is read again is as recent as a new one', () => {
  const secrets = new RecentSecrets([], 2);
  for (const each of ['in-use', 'former', 'in-use', 'later']) secrets.add(each);
  expect([...secrets]).toEqual(['in-use', 'later']);
});

test('one that must always be hidden is so although it was read as well', () => {
  const secrets = new RecentSecrets(['always-hidden'], 1);
  for (const each of ['always-hidden', 'later']) secrets.add(each);
  expect([...secrets]).toEqual(['always-hidden', 'later']);
});

test('as many are kept as can be in use', () => {
  const secrets = new RecentSecrets([]);
  for (let number = 1; number <= 40; number += 1) secrets.add(token(number));
  expect([...secrets]).toEqual(Array.from({ length: 20 }, (_, index) => token(21 + index)));
});
