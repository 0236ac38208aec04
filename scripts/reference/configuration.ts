/** docs/reference/configuration.md: the environment variables of the operator. */
import type { Variable } from '../../src/main/config/variable-types.ts';
import { VARIABLES } from '../../src/main/config/variables.ts';
import { code, heading, markdownTable } from './markdown.ts';

const INTRODUCTION = `
Everything that can be set is set in the environment, which is read once, at the start. An empty variable counts as one that is not
there. With a value that cannot be used the operator ends at once with exit code 2 and names every such variable.
`;

export function configurationReference(): string {
  const rows = Object.entries<Variable>(VARIABLES).map(([name, variable]) => [
    code(name),
    valuesOf(variable),
    defaultOf(variable),
    variable.meaning,
  ]);
  const columns = ['variable', 'value', 'when it is not given', 'meaning'];
  return [
    heading('Configuration', 'src/main/config/variables.ts'),
    INTRODUCTION,
    `${markdownTable(columns, rows)}\n`,
  ].join('\n');
}

function valuesOf(variable: Variable): string {
  switch (variable.type) {
    case 'integer':
    case 'derivedInteger':
      return `${variable.min} to ${variable.max}`;
    case 'flag':
    case 'derivedFlag':
      return '`true` or `false`';
    case 'choice':
      return variable.choices.map(code).join(' ');
    case 'list':
      return 'comma-separated';
    case 'text':
    case 'optional':
      return 'text';
  }
}

function defaultOf(variable: Variable): string {
  return 'default' in variable ? code(String(variable.default)) : variable.otherwise;
}
