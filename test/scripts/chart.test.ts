/** What is generated of the chart, without Helm. test/integration/chart-*.test.ts render and install it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { chartObjects } from '../../scripts/chart/objects.ts';
import { chartReadme } from '../../scripts/chart/readme.ts';
import { valuesSchema } from '../../scripts/chart/schema.ts';
import { type DescribedValue, describedValues } from '../../scripts/chart/values.ts';
import { root } from '../../scripts/run.ts';
import { VARIABLES } from '../../src/main/config/variables.ts';
import { at } from '../deploy/manifests.ts';

const leaves = (values: readonly DescribedValue[]): DescribedValue[] =>
  values.flatMap(value => (value.parts.length === 0 ? [value] : leaves(value.parts)));

describe('values.yaml', () => {
  test('is read with its comments, the one of the file left out', () => {
    expect(
      describedValues(
        '# Of the file.\n\n# One\n# and two.\na:\n  # Three.\n  b: 1\n  c: [x]\n# Four.\nd: {}\n',
      ),
    ).toEqual([
      {
        path: 'a',
        description: 'One and two.',
        default: { b: 1, c: ['x'] },
        parts: [
          { path: 'a.b', description: 'Three.', default: 1, parts: [] },
          { path: 'a.c', description: '', default: ['x'], parts: [] },
        ],
      },
      { path: 'd', description: 'Four.', default: {}, parts: [] },
    ]);
  });

  test('describes every value', () => {
    const silent = leaves(describedValues()).filter(({ description }) => description === '');
    expect(silent.map(({ path }) => path)).toEqual([]);
  });

  test.each(['a: b: c', '- a', ''])('that is %j is refused', text => {
    expect(() => describedValues(text)).toThrow('values.yaml');
  });
});

describe('values.schema.json', () => {
  const [first, ...others] = describedValues();

  test('and values.yaml have the same values', () => {
    expect(() => valuesSchema(others)).toThrow(`values.yaml has no ${first?.path}`);
    const added: DescribedValue = { path: 'typo', description: 'x', default: 1, parts: [] };
    expect(() => valuesSchema([...describedValues(), added])).toThrow('schema.ts has no typo');
  });

  test('takes no value that it does not know', () => {
    expect(valuesSchema()).toMatchObject({ additionalProperties: false });
  });

  test('has for config the bounds of the variables, and none that other values set', () => {
    const config = at(valuesSchema(), 'properties', 'config', 'properties') as Record<string, unknown>;
    expect(Object.keys(config).filter(name => !(name in VARIABLES))).toEqual([]);
    expect(Object.keys(config).filter(name => /^TEMPORAL|^POD_|^REDACT$|_PORT$/.test(name))).toEqual([]);
    const { min, max } = VARIABLES.MAX_CONCURRENT_ACTIVITIES;
    expect(config['MAX_CONCURRENT_ACTIVITIES']).toMatchObject({ minimum: min, maximum: max });
  });
});

test('README.md has a row for every value, with its default', () => {
  const rows = chartReadme().split('\n');
  for (const { path, default: value } of leaves(describedValues()))
    expect(
      rows.filter(row => row.startsWith(`| \`${path}\` | \`${JSON.stringify(value)}\` | `)),
    ).toHaveLength(1);
});

describe('templates', () => {
  const generated = [...chartObjects()].filter(([path]) => path.includes('/templates/'));
  /** What is left of a template without what Helm does. */
  const plain = (text: string): string =>
    text
      .split('\n')
      .filter(line => !/^\s*\{\{-.*\}\}$/.test(line))
      .join('\n')
      .replaceAll('{{ "{{" }}', '{{');

  test.each(['etcdclusters', 'etcdbackups', 'etcdrestores', 'etcdrequests'])(
    'of %s is the CRD of deploy/crd',
    name => {
      const [, text = ''] = generated.find(([path]) => path.endsWith(`/crds/${name}.yaml`)) ?? [];
      const source: unknown = parse(readFileSync(join(root, `deploy/crd/${name}.yaml`), 'utf8'));
      const template: unknown = parse(plain(text));
      expect(at(template, 'spec')).toEqual(at(source, 'spec'));
      expect(at(template, 'metadata', 'name')).toBe(at(source, 'metadata', 'name'));
    },
  );

  test('of what is of the whole Kubernetes cluster ask whether to install and to keep it', () => {
    for (const [path, text] of generated) {
      const group = path.includes('/crds/') ? 'crds' : 'users';
      const asks = path.endsWith('by-filled.yaml')
        ? `{{- if and .Values.users.install .Values.users.fillBy }}`
        : `{{- if .Values.${group}.install }}`;
      expect(text).toContain(asks);
      // What an option adds goes again when the option is switched off: Helm deletes nothing that is to be kept.
      const objects = text.match(/^kind:/gm)?.length;
      const kept = text.match(new RegExp(`if .Values.${group}.keep`, 'g'))?.length;
      expect(kept).toBe(path.endsWith('by-filled.yaml') ? undefined : objects);
      expect(text.match(/helm.sh\/resource-policy/g)?.length).toBe(kept);
    }
    expect(generated).toHaveLength(8);
  });

  test('have nothing of descriptions that Helm would take for its own', () => {
    for (const [, text] of generated)
      for (const line of text.split('\n').filter(one => one.includes('{{')))
        expect(line).toMatch(
          /^\s*\{\{- (\/\*|if |end |include )|\{\{ "\{\{" \}\}|^apiVersion: [a-z.0-9]+\/\{\{ ternary "v1" "v1beta1" /,
        );
  });
});
