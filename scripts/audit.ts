/**
 * Checks each package-lock.json without a network: completeness, hashes, addresses, install scripts, licenses, versions that belong together.
 * With --online it also asks the registry of npm for known vulnerabilities of what is in the image; not every registry answers that.
 * Usage: scripts/audit.ts [--online]
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { auditFaults } from './audit/rules.ts';
import { readLock } from './lock-file.ts';
import { root } from './run.ts';
import { installedLicense } from './sbom/packages.ts';

const { values } = parseArgs({ options: { online: { type: 'boolean', default: false } } });
const faults = ['', 'docs/site/'].flatMap(folder =>
  auditFaults(readLock(join(root, folder)), path => installedLicense(join(root, folder), path)).map(
    fault => `${folder}package-lock.json: ${fault}`,
  ),
);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
if (values.online) {
  const { status } = spawnSync('npm', ['audit', '--omit=dev'], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exitCode = 1;
}
