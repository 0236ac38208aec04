/** What the tools say of a snapshot, and what they only say of the node that they run on. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { verifySnapshot } from '../../../src/main/pods/verification.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'verification-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** The report when etcdutl is this script. */
async function reportOf(script: string, restore = false) {
  const tool = join(folder, 'etcdutl');
  await writeFile(tool, `#!/bin/sh\n${script}\n`);
  await chmod(tool, 0o755);
  const tools = { etcd: join(folder, 'etcd'), snapshot: tool };
  const snapshot = join(folder, 'snapshot.db');
  return verifySnapshot({ tools, folder, snapshot, restore, revision: '42', ports: { client: 1, peer: 2 } });
}

describe('etcdutl snapshot status', () => {
  it('is asked about the snapshot, and understood', async () => {
    const script = `[ "$1 $2 $3 $4 $5" = "snapshot status ${folder}/snapshot.db -w json" ] || exit 9
      echo '{"hash":7,"revision":43,"totalKey":3,"totalSize":20480,"version":"3.6.0"}'`;
    expect(await reportOf(script)).toEqual({
      kind: 'read',
      structure: { hash: 7, revision: 43, keys: 3 },
    });
  });

  it('that says a lot is quoted as far as a termination message goes', async () => {
    const report = await reportOf(
      `yes '"\\"' | head -n 3000 | tr '\\n' '\\001' >&2; echo the end >&2; exit 1`,
    );
    expect(report).toMatchObject({ kind: 'fault', message: expect.stringMatching(/the end$/) });
    expect(Buffer.byteLength(JSON.stringify(report))).toBeLessThan(4_096);
  });

  it('that finds fault is believed', async () => {
    const report = await reportOf('echo "snapshot file integrity check failed. 2 errors found." >&2; exit 1');
    expect(report).toEqual({
      kind: 'fault',
      message: 'snapshot file integrity check failed. 2 errors found.',
    });
  });

  it.each([
    ['finds no space', 'echo "write: no space left on device" >&2; exit 1'],
    ['is killed', 'kill -9 $$'],
    ['is not there', 'exec /no/such/program'],
    ['says what nobody understands', 'echo panic'],
  ])('that %s says nothing of the snapshot', async (_, script) => {
    expect(await reportOf(script)).toMatchObject({ kind: 'trouble' });
  });

  it('says nothing either when the restored data does not start', async () => {
    const script = `[ "$2" = restore ] || echo '{"hash":7,"revision":43,"totalKey":3}'`;
    expect(await reportOf(script, true)).toMatchObject({
      kind: 'read',
      restored: { unknown: expect.stringContaining('etcd exited') },
    });
  });
});
