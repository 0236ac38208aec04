/** Reading a file that may hold a secret: an error names the file alone. */
import { readFileSync } from 'node:fs';

/** The contents of a file. @throws an error that names the file, and why it cannot be read */
export function readCredentialFile(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Error(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown error'}`);
  }
}
