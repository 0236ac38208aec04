/** The commands of a page of the handbook, typed into a shell as a person would who reads it. */
import { readFileSync } from 'node:fs';
import type { World } from '../e2e.ts';
import { Shell } from './shell.ts';

/** A page, and who sits before it: in one namespace, with the tools that the page names. */
export class Handbook {
  /** Lines of the page's tables that nobody has typed yet. */
  readonly untried: Set<string>;
  readonly #page: string;
  readonly #prepare: string;
  readonly #shell: Shell;

  /** @param page its path from the folder of the documentation */
  constructor(world: World, namespace: string, page: string) {
    this.#page = readFileSync(new URL(`../../../docs/${page}`, import.meta.url), 'utf8');
    this.#prepare = this.#blocks()[0] ?? '';
    this.untried = new Set(this.#lines());
    this.#shell = new Shell(world, namespace);
  }

  /**
   * Types the one line of a table that has all of these words in it, and gives what it printed.
   * @param change what a reader would put in the place of the page's examples
   * @throws when there is no such line, or more than one, and when it fails, with what it printed
   */
  async type(words: string, change: (line: string) => string = line => line): Promise<string> {
    const lines = this.#lines().filter(line => line.includes(words));
    const [line] = lines;
    if (line === undefined || lines.length > 1)
      throw new Error(`${lines.length} lines of the page have "${words}" in them`);
    this.untried.delete(line);
    return this.#run(change(line));
  }

  /** Types the one line that has these words in it, a query, and gives what the workflow answered. */
  async ask<T>(words: string): Promise<T> {
    const printed = await this.type(words);
    const [, answer] = /QueryResult\s+(\{.*\})/s.exec(printed) ?? [];
    if (answer === undefined) throw new Error(`"${words}" was not answered: ${printed}`);
    return JSON.parse(answer) as T;
  }

  /** Types the whole block of commands that has these words in it. */
  async typeBlock(words: string, change: (block: string) => string): Promise<string> {
    const block = this.#blocks().find(one => one.includes(words));
    if (block === undefined) throw new Error(`no block of the page has "${words}" in it`);
    return this.#run(change(block));
  }

  #lines(): string[] {
    return [...this.#page.matchAll(/^\|.*\| `(temporal .*)` \|$/gm)].map(([, command = '']) => command);
  }

  #blocks(): string[] {
    return [...this.#page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
  }

  /** Every shell is a new one: what the page begins with is typed first. */
  async #run(commands: string): Promise<string> {
    return this.#shell.run(`${this.#prepare}\n${commands}`);
  }
}
