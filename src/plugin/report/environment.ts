/**
 * Texts without what etcd logs of its environment. It logs variables with their values (pkg/flags/flag.go of etcd), and those may come from
 * Secrets, which a report never reads and so could not look for. Pure.
 */
import { LEFT_OUT } from './cleaned.ts';

/** Values, as they are escaped where they stand. */
const LOGGED: readonly RegExp[] = [
  /(?<="environment-variable":\s*"[^"=\\]*=)(?:[^"\\]|\\.)+/g,
  /(?<="variable-value":\s*")(?:[^"\\]|\\.)+/g,
  // Quoted once by Go, and in a log of JSON once more.
  /(?<=invalid value \\*")[^\n]+?(?=\\*" for ETCD_\w)/g,
];

/** How often a value may be quoted. */
const MOST_QUOTES = 2;

/** The text without the values. They are added to `secrets`, for texts that repeat them. */
export function withoutEnvironment(text: string, secrets: Set<string>): string {
  return LOGGED.reduce(
    (left, pattern) =>
      left.replace(pattern, value => {
        for (const form of readings(value)) secrets.add(form);
        return LEFT_OUT;
      }),
    text,
  );
}

/** A value as it stands there, and without one escaping after the other. */
function readings(value: string): readonly string[] {
  const found = [value];
  for (let last = value; found.length <= MOST_QUOTES && last.includes('\\'); found.push(last)) {
    try {
      last = String(JSON.parse(`"${last}"`));
    } catch {
      // It is no JSON, or not any more.
      break;
    }
  }
  return found;
}
