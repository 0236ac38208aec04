/** The commands of a page of the documentation, one by one as a person would type them who follows it. */
import { readFileSync } from 'node:fs';
import type { World } from '../e2e.ts';
import { Shell } from './shell.ts';

/** A command of a page, and what has to be typed before it in the same shell. */
interface Command {
  readonly text: string;
  readonly before: string;
}

export class Runbook {
  /** Commands of the page that nobody has typed yet. */
  readonly untried: Set<string>;
  readonly #page: string;
  readonly #commands: readonly Command[];
  readonly #shell: Shell;

  /** @param page its path from the folder of the documentation */
  constructor(world: World, namespace: string, page: string) {
    this.#page = readFileSync(new URL(`../../../docs/${page}`, import.meta.url), 'utf8');
    const commands = this.#blocks('sh').flatMap(commandsOf);
    // What a page says for two ways of going about it is one command.
    this.#commands = [...new Map(commands.map(command => [command.text, command])).values()];
    this.untried = new Set(this.#commands.map(({ text }) => text));
    this.#shell = new Shell(world, namespace);
  }

  /**
   * Types the one command that is this, or else has these words in it, after those of its block that set variables or run in the background,
   * and gives what was printed.
   * @param change what a reader would put in the place of the page's examples, in all that is typed
   * @param variables of the environment, where the page takes them from it
   * @throws when there is no such command, or more than one, and when it fails, with what it printed
   */
  async type(
    words: string,
    change: (command: string) => string = command => command,
    variables: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const same = this.#commands.filter(({ text }) => text === words);
    const found = same.length > 0 ? same : this.#commands.filter(({ text }) => text.includes(words));
    const [command] = found;
    if (command === undefined || found.length > 1)
      throw new Error(`${found.length} commands of the page have "${words}" in them`);
    this.untried.delete(command.text);
    return this.#shell.run(change(`${command.before}${command.text}`), variables);
  }

  /** The one part of a resource that the page shows and that has these words in it. */
  yaml(words: string): string {
    const found = this.#blocks('yaml').filter(block => block.includes(words));
    if (found.length !== 1) throw new Error(`${found.length} resources of the page have "${words}" in them`);
    return found.join('');
  }

  #blocks(language: 'sh' | 'yaml'): string[] {
    const pattern = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms');
    return [...this.#page.matchAll(pattern)].map(([, block = '']) => block);
  }
}

const COMMAND = /^.*<<'?(YAML|EOF)'?\n[\s\S]*?^\1$|^for .*\n(?: .*\n)*done$|^(?:.*\\\n)*.+$/gm;

/**
 * The commands of a block: a line each, with those that it is continued on; a loop; or all until the end of the text that is given
 * to one.
 */
function commandsOf(block: string): Command[] {
  const texts = block.match(COMMAND) ?? [];
  const isPreparation = (text: string): boolean => /^(export |[A-Z]+=)|&$/.test(text);
  return texts.flatMap((text, index) => {
    const before = texts.slice(0, index).filter(isPreparation);
    return isPreparation(text) ? [] : [{ text, before: before.map(one => `${one}\n`).join('') }];
  });
}
