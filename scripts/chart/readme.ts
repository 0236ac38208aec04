/** README.md of the chart: how it is installed, and every value with its comment of values.yaml. */
import { code, markdownTable } from '../reference/markdown.ts';
import { type DescribedValue, describedValues } from './values.ts';

const INTRODUCTION = `# etcd-operator

<!-- Generated from values.yaml by \`npm run generate\`. Do not edit. -->

Installs the operator with Helm 3 (3.17 or later for \`--take-ownership\`). [Installation](../../docs/operations/install.md#with-helm) says how to
move from kustomize, how to install several operators, and what upgrading, rolling back and uninstalling do.

\`\`\`sh
helm install etcd-operator charts/etcd-operator --namespace etcd-operator --create-namespace \\
  --set temporal.address=temporal-frontend.temporal.svc:7233
\`\`\`

## Values
`;

export function chartReadme(values: readonly DescribedValue[] = describedValues()): string {
  const rows = values.flatMap(rowsOf);
  return `${INTRODUCTION}\n${markdownTable(['value', 'default', 'meaning'], rows)}\n`;
}

/** What has parts is described in a row without a default, before them. */
function rowsOf(value: DescribedValue): string[][] {
  const { path, description, parts } = value;
  if (parts.length === 0) return [[code(path), code(JSON.stringify(value.default)), description]];
  const own = description === '' ? [] : [[code(path), '', description]];
  return [...own, ...parts.flatMap(rowsOf)];
}
