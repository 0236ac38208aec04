/** Reads and changes CHANGELOG.md: a heading `## X.Y.Z` for each release, and `## Next` for what comes. */
import { parseVersion } from './semver.ts';

/** The heading of what is not released yet. */
const NEXT = 'Next';

interface Section {
  readonly title: string;
  /** Without blank lines around it. */
  readonly text: string;
}

/** The sections in the order of the file. */
export function sectionsOf(changelog: string): Section[] {
  return changelog
    .split(/^(?=## )/m)
    .filter(part => part.startsWith('## '))
    .map(part => {
      const [heading = '', ...lines] = part.split('\n');
      return { title: heading.slice('## '.length).trim(), text: lines.join('\n').trim() };
    });
}

/** The versions that have a section, in the order of the file. */
export function releasesOf(changelog: string): string[] {
  return sectionsOf(changelog)
    .map(({ title }) => title)
    .filter(title => parseVersion(title) !== undefined);
}

/**
 * What a release says of itself: the section of its version if there is one, else the section "Next".
 * @throws when there is neither, when it is empty, or when both say something
 */
export function notesFor(changelog: string, version: string): string {
  const sections = sectionsOf(changelog);
  const textOf = (title: string): string | undefined =>
    sections.find(section => section.title === title)?.text;
  const [own, next] = [textOf(version), textOf(NEXT)];
  if (own !== undefined && next !== undefined && next !== '')
    throw new Error(
      `CHANGELOG.md: "${NEXT}" has text beside the section ${version}: move it there, or choose a newer version`,
    );
  const notes = own ?? next;
  if (notes === undefined || notes === '')
    throw new Error(`CHANGELOG.md: say under "## ${NEXT}" what changes for those who run the operator`);
  return notes;
}

/** The file once the version is released: its notes stand under its own heading, and nothing under "Next". */
export function releasedChangelog(changelog: string, version: string): string {
  notesFor(changelog, version);
  if (releasesOf(changelog).includes(version)) return changelog;
  return changelog.replace(new RegExp(`^## ${NEXT}[ \\t]*$`, 'm'), `## ${version}`);
}
