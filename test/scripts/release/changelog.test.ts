import { describe, expect, test } from 'vitest';
import { notesFor, releasedChangelog, releasesOf, sectionsOf } from '../../../scripts/release/changelog.ts';

const older = '## 0.2.0\n\nThe first.\n\n- One\n  and a half\n';
const head = '# Changelog\n\nNewest first.\n\n';
const withNext = (text: string): string => `${head}## Next\n\n${text}\n${older}`;

test('sections are read with their lines', () => {
  expect(sectionsOf(withNext('- New.\n'))).toEqual([
    { title: 'Next', text: '- New.' },
    { title: '0.2.0', text: 'The first.\n\n- One\n  and a half' },
  ]);
  expect(releasesOf(withNext(''))).toEqual(['0.2.0']);
});

describe('the notes of a release', () => {
  test('are what stands under Next, or under its own heading', () => {
    expect(notesFor(withNext('- New.\n'), '0.3.0')).toBe('- New.');
    expect(notesFor(`${head}${older}`, '0.2.0')).toBe('The first.\n\n- One\n  and a half');
    expect(notesFor(withNext(''), '0.2.0')).toContain('The first.');
  });

  test.each([
    ['nothing is under Next', withNext('')],
    ['there is no Next', `${head}${older}`],
    ['its own section is empty', `${head}## 0.3.0\n\n${older}`],
  ])('are missing when %s', (_, changelog) => {
    expect(() => notesFor(changelog, '0.3.0')).toThrow('what changes for those who run the operator');
  });

  test('are not in two places', () => {
    expect(() => notesFor(withNext('- New.\n'), '0.2.0')).toThrow('"Next" has text beside the section 0.2.0');
  });
});

test('Next becomes the release, and nothing else changes', () => {
  expect(releasedChangelog(withNext('- New, see ## Next\n'), '0.3.0')).toBe(
    `${head}## 0.3.0\n\n- New, see ## Next\n\n${older}`,
  );
  expect(releasedChangelog(`${head}${older}`, '0.2.0')).toBe(`${head}${older}`);
});
