/** The clusters of deploy/samples, and which of them the documentation begins with. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { root } from '../../scripts/run.ts';
import { FLOORS } from '../../src/api/versions/table.ts';
import { isAtLeast, minorOf } from '../../src/api/versions/compare.ts';

const FOLDER = 'deploy/samples';
/** As users of the CoreOS operator have it, to the byte. */
const OF_COREOS = 'simple-etcd-cr.yaml';
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const versions = readdirSync(join(root, FOLDER))
  .map(file => ({ file, sample: parse(read(`${FOLDER}/${file}`)) as { spec?: { version?: string } } }))
  .flatMap(({ file, sample: { spec } }) =>
    spec?.version === undefined ? [] : [{ file, version: spec.version }],
  );

describe('the samples', () => {
  it.each(versions.filter(({ file }) => file !== OF_COREOS))(
    '$file has a release of etcd without known faults ($version)',
    ({ version }) => {
      const floors = FLOORS.filter(floor => floor.minor === minorOf(version));
      expect(floors.filter(floor => !isAtLeast(version, floor.version))).toEqual([]);
    },
  );

  it('contain the manifest of the CoreOS operator unchanged', () => {
    expect(parse(read(`${FOLDER}/${OF_COREOS}`))).toMatchObject({
      metadata: { name: 'example' },
      spec: { size: 3, version: '3.5.3' },
    });
  });

  it('are all listed in their page', () => {
    const page = read('docs/operations/samples.md');
    const files = readdirSync(join(root, FOLDER)).filter(file => file.endsWith('.yaml'));
    expect(files.filter(file => !page.includes(`deploy/samples/${file})`))).toEqual([]);
  });

  it.each(['README.md', 'docs/quick-start/kubernetes.md', 'docs/quick-start/laptop.md', 'local/demo.ts'])(
    '%s begins with none that has known faults',
    file => {
      expect(read(file)).not.toContain(OF_COREOS);
    },
  );
});
