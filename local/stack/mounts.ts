import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { attempt, execute, poll } from './execute.ts';
import type { Layout } from './layout.ts';

/** Mount points in /proc/self/mountinfo (proc_pid_mountinfo(5), field 5, with blanks as octal escapes), in order. */
export function parseMountPoints(mountinfo: string): string[] {
  return mountinfo.split('\n').flatMap(line => {
    const field = line.split(' ')[4];
    const unescape = (_: string, octal: string): string => String.fromCharCode(Number.parseInt(octal, 8));
    return field === undefined ? [] : [field.replace(/\\([0-7]{3})/g, unescape)];
  });
}

function mountsBelow(folder: string): string[] {
  const all = parseMountPoints(readFileSync('/proc/self/mountinfo', 'utf8'));
  return all.filter(point => point === folder || point.startsWith(`${folder}/`));
}

/** Makes the volumes folder a shared mount: what the provisioner mounts in it then appears in every node. */
export async function ensureSharedVolumes(layout: Layout): Promise<void> {
  mkdirSync(layout.volumes, { recursive: true });
  if (mountsBelow(layout.volumes).includes(layout.volumes)) return;
  await execute('mount', ['--bind', layout.volumes, layout.volumes]);
  await execute('mount', ['--make-shared', layout.volumes]);
}

const loopsSchema = z.object({
  loopdevices: z.array(z.object({ name: z.string(), 'back-file': z.string().nullable() })),
});

/** Loop devices whose file lies in `folder`. */
export async function loopDevices(folder: string): Promise<string[]> {
  const listed = await execute('losetup', ['--list', '--json', '--output', 'NAME,BACK-FILE']);
  if (listed.trim() === '') return [];
  return loopsSchema
    .parse(JSON.parse(listed))
    .loopdevices.filter(device => device['back-file']?.startsWith(`${folder}/`))
    .map(device => device.name);
}

/** Unmounts everything below a folder of the stack and frees its loop devices. Its users must have ended. */
export async function removeMounts(folder: string): Promise<void> {
  await poll(
    async () => {
      for (const point of mountsBelow(folder).reverse()) await attempt('umount', [point]);
      for (const device of await loopDevices(folder)) await attempt('losetup', ['--detach', device]);
      return mountsBelow(folder).length === 0 && (await loopDevices(folder)).length === 0;
    },
    { what: `mounts below ${folder} to be released`, timeoutMilliseconds: 15_000 },
  );
}

/** Unmounts the volumes of one node, whose disk is about to be thrown away. */
export async function removeNodeVolumes(layout: Layout, index: number): Promise<string> {
  const folder = join(layout.volumes, layout.nodeName(index));
  await removeMounts(folder);
  return folder;
}
