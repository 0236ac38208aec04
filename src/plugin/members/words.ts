/** The words of a line that is typed at the prompt of `kubectl etcd shell`. Pure. */
import { usageFailure } from '../failure.ts';

/** A quoted part, a character after a backslash, a character that a shell would act upon, spaces, or plain characters. */
const PART =
  /'(?<single>[^']*)'|"(?<double>(?:[^"\\]|\\.)*)"|\\(?<escaped>.)|(?<operator>[|&;<>$`()'"\\])|(?<space>\s+)|(?<plain>[^\s'"\\|&;<>$`()]+)/gs;

/**
 * Splits as a shell does, and does nothing else that a shell would.
 * @throws Failure for what only a shell could do, such as a pipe: `etcdctl` would take it for a key
 */
export function wordsOf(line: string): readonly string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (const { groups: part = {} } of line.matchAll(PART)) {
    const { single, double, escaped, operator, space, plain } = part;
    if (operator !== undefined)
      throw usageFailure(
        `${operator} has no meaning here: a line is one command of etcdctl`,
        'Put it in quotes if it is part of a key, and use kubectl etcd etcdctl NAME -- COMMAND in your own shell for pipes.',
      );
    if (space !== undefined) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else {
      word = `${word ?? ''}${single ?? double?.replaceAll(/\\(["\\$`])/g, '$1') ?? escaped ?? plain ?? ''}`;
    }
  }
  return word === undefined ? words : [...words, word];
}
