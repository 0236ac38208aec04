import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { openFilesLimit } from '../../../src/main/operator/open-files.ts';

test('the limit is the one that this process has', () => {
  const module = JSON.stringify(import.meta.resolve('../../../src/main/operator/open-files.ts'));
  const script = `import { openFilesLimit } from ${module}; process.stdout.write(String(openFilesLimit()));`;
  const limited = 'ulimit -n 217 && exec "$0" --input-type=module -e "$1"';
  expect(execFileSync('sh', ['-c', limited, process.execPath, script], { encoding: 'utf8' })).toBe('217');
  expect(openFilesLimit()).toBeGreaterThan(217);
});

test('where nobody tells, it is the usual one', () => {
  expect(openFilesLimit('/nowhere')).toBe(1_024);
});
