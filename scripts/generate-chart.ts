/** Writes what is generated of charts/etcd-operator: all that also stands elsewhere. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { chartObjects } from './chart/objects.ts';
import { chartReadme } from './chart/readme.ts';
import { valuesSchema } from './chart/schema.ts';
import { CHART } from './chart/values.ts';
import { root } from './run.ts';

/** The generated files: path from the root of the checkout to content. The same input gives the same bytes. */
export function generateChart(): Map<string, string> {
  return new Map([
    [
      `${CHART}/Chart.yaml`,
      `# Generated from package.json by scripts/generate.ts.\n${stringify(chart(), { lineWidth: 0 })}`,
    ],
    [`${CHART}/README.md`, chartReadme()],
    [`${CHART}/values.schema.json`, `${JSON.stringify(valuesSchema(), undefined, 2)}\n`],
    ...chartObjects(),
  ]);
}

function chart(): object {
  const { name, version, description } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly [field: string]: string;
  };
  return {
    apiVersion: 'v2',
    name,
    description,
    type: 'application',
    version,
    appVersion: version,
    // From 1.30 on there are ValidatingAdmissionPolicies.
    kubeVersion: '>=1.30.0-0',
    keywords: ['etcd', 'operator', 'temporal'],
  };
}
