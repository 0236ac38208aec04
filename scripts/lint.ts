/** Lints: oxlint with its type-aware rules, and the import table of scripts/import-rules.ts. */
import { runNode, tool } from './run.ts';

const folders = ['src', 'scripts', 'test', 'local', 'vitest.config.ts'];

const results = await Promise.all([
  runNode([tool.oxlint, '--type-aware', '--deny-warnings', '--report-unused-disable-directives', ...folders]),
  runNode(['scripts/import-rules.ts']),
]);
for (const { code, output } of results) {
  if (code !== 0) process.stdout.write(output);
}
process.exitCode = results.some(({ code }) => code !== 0) ? 1 : 0;
