import { readFileSync, writeFileSync } from 'node:fs';

/**
 * Flips a bit in every copy of a value in a file of etcd's database, and nothing of the structure of its pages: etcd starts on it and
 * serves what is wrong. To be called while no etcd uses the file, and with a value that is there, and that no key contains.
 * @returns how many copies there were
 */
export function flipValue(file: string, value: string): number {
  const data = readFileSync(file);
  let copies = 0;
  for (let at = data.indexOf(value); at >= 0; at = data.indexOf(value, at + value.length)) {
    data[at] = (data[at] ?? 0) ^ 1;
    copies += 1;
  }
  if (copies === 0) throw new Error(`${file} does not contain ${value}`);
  writeFileSync(file, data);
  return copies;
}
