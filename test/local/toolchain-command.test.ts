import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runCommand } from '../../local/toolchain/command.ts';
import { toolchainSetting } from '../../local/toolchain/go.ts';
import { findOnPath, findSuitable, isStatic } from '../../local/toolchain/on-path.ts';
import { kubernetesVersion, temporalVersion } from '../../local/toolchain/versions.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'command-'));
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

/** A command that prints a text, in a folder that is all of PATH. */
function command(name: string, output: string): string {
  const file = join(folder, name);
  writeFileSync(
    file,
    `#!/bin/sh
echo '${output}'
`,
    { mode: 0o755 },
  );
  vi.stubEnv('PATH', folder);
  return file;
}

describe('runCommand', () => {
  it('returns the output, reports every line of standard error, and logs both', async () => {
    const log = join(folder, 'logs/step.log');
    const lines: string[] = [];
    const output = await runCommand('sh', ['-c', 'echo result; printf "one\\ntwo" >&2'], {
      log,
      onLine: line => lines.push(line),
    });
    expect(output).toBe('result\n');
    expect(lines).toEqual(['one', 'two']);
    const logged = readFileSync(log, 'utf8');
    expect(logged).toMatch(/^\$ sh -c /);
    for (const text of ['result', 'one', 'two']) expect(logged).toContain(text);
  });

  it('fails with the last lines and the place of the log', async () => {
    const log = join(folder, 'step.log');
    const failing = runCommand('sh', ['-c', 'for i in $(seq 40); do echo "line $i" >&2; done; exit 3'], {
      log,
    });
    const message = await failing.catch((error: Error) => error.message);
    expect(message).toContain('ended with 3');
    expect(message).toContain('  line 26\n');
    expect(message).toContain('  line 40\n');
    expect(message).not.toContain('line 25\n');
    expect(message).toContain(`whole output: ${log}`);
  });

  it('says that a command cannot be started', async () => {
    await expect(runCommand('no-such-command-here', [])).rejects.toThrow(
      /no-such-command-here .*cannot be started/,
    );
  });
});

describe('findSuitable', () => {
  it('takes a tool of the right version, and no other', async () => {
    const kubectl = command('kubectl', `Client Version: v${kubernetesVersion}`);
    expect(await findSuitable('kubectl')).toBe(kubectl);
    command('kubectl', `Client Version: v${kubernetesVersion}1`);
    expect(await findSuitable('kubectl')).toBeUndefined();
    command('kubectl', 'Client Version: v1.20.0');
    expect(await findSuitable('kubectl')).toBeUndefined();
  });

  it('takes containerd 1.6 and 1.7 with a shim, not 2.x, which reads another configuration', async () => {
    const containerd = command(
      'containerd',
      'containerd github.com/containerd/containerd 1.7.24~ds1 1.7.24~ds1-6',
    );
    expect(await findSuitable('containerd')).toBeUndefined();
    command('containerd-shim-runc-v2', '');
    expect(await findSuitable('containerd')).toBe(containerd);
    command('containerd', 'containerd github.com/containerd/containerd/v2 v2.0.1 88aa2f');
    expect(await findSuitable('containerd')).toBeUndefined();
  });

  it('takes only static programs for what goes into an image', async () => {
    command('temporal', `temporal version ${temporalVersion} (Server 1.30.0, UI 2.40.0)`);
    expect(await findSuitable('temporal')).toBeUndefined();
    expect(await isStatic(process.execPath)).toBe(false);
    expect(await isStatic(join(folder, 'temporal'))).toBe(false);
    expect(await isStatic(staticProgram())).toBe(true);
  });

  it('never finds the project’s own programs on PATH', async () => {
    command('local-provisioner', kubernetesVersion);
    expect(await findSuitable('local-provisioner')).toBeUndefined();
  });
});

/** The smallest file that reads as a static ELF program: a header and one segment to load. */
function staticProgram(): string {
  const file = join(folder, 'static');
  const elf = Buffer.alloc(64 + 56);
  elf.write('\x7fELF\x02\x01\x01', 'latin1');
  elf.writeBigUInt64LE(64n, 32);
  elf.writeUInt16LE(56, 54);
  elf.writeUInt16LE(1, 56);
  elf.writeUInt32LE(1, 64);
  writeFileSync(file, elf);
  return file;
}

describe('findOnPath', () => {
  it('takes the first file that may be executed', async () => {
    const file = command('some-tool', '');
    writeFileSync(join(folder, 'plain'), '', { mode: 0o644 });
    expect(await findOnPath('some-tool')).toBe(file);
    expect(await findOnPath('plain')).toBeUndefined();
    expect(await findOnPath('some-tool', '')).toBeUndefined();
  });
});

describe('toolchainSetting', () => {
  it('uses a Go that is new enough, and lets an older one fetch its successor', () => {
    expect(toolchainSetting('go1.26.8', '1.26')).toBe('local');
    expect(toolchainSetting('go1.27rc1', '1.26')).toBe('local');
    expect(toolchainSetting('go1.22.1', '1.26')).toBe('auto');
    expect(() => toolchainSetting('go1.19.8', '1.26')).toThrow(/Go 1\.26 is needed.*go1\.19\.8/);
  });
});
