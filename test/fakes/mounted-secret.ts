/** A Secret as the kubelet mounts it: links to files in a folder, which is exchanged as a whole. */
import { mkdir, mkdtemp, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export class MountedSecret {
  readonly folder: string;
  #writes = 0;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async of(files: Readonly<Record<string, string>>): Promise<MountedSecret> {
    const secret = new MountedSecret(await mkdtemp(join(tmpdir(), 'secret-')));
    await secret.become(files);
    return secret;
  }

  /** In the order of AtomicWriter of the kubelet: the new folder, the exchange of the link, the links of names. */
  async become(files: Readonly<Record<string, string>>): Promise<void> {
    const { folder } = this;
    this.#writes += 1;
    const state = `..${this.#writes}`;
    await mkdir(join(folder, state));
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, state, name), content);
    await symlink(state, join(folder, '..data_tmp'));
    await rename(join(folder, '..data_tmp'), join(folder, '..data'));
    const linked = (await readdir(folder)).filter(name => !name.startsWith('..'));
    for (const name of Object.keys(files))
      if (!linked.includes(name)) await symlink(join('..data', name), join(folder, name));
    for (const name of linked) if (!(name in files)) await rm(join(folder, name));
    await rm(join(folder, `..${this.#writes - 1}`), { recursive: true, force: true });
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true, force: true });
  }
}
