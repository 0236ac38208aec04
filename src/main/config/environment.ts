/** Reads environment variables one by one and gathers everything that is wrong with them. */
import type { OptionalVariable, TextRule } from './variable-types.ts';
import { VARIABLES, type VariableOf } from './variables.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** What is wrong with the environment: one line a variable. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(`invalid environment:\n${problems.map(problem => `  ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

/** Reads the variables of the table. An empty one counts as absent: that is how manifests spell "not given". */
export class EnvironmentReader {
  readonly #environment: Environment;
  readonly #problems: string[] = [];

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  optional(name: VariableOf<'optional'>): string | undefined {
    return this.#read(name, (VARIABLES[name] as OptionalVariable).rule);
  }

  text(name: VariableOf<'text'>): string {
    const { default: fallback, rule } = VARIABLES[name];
    return this.#read(name, rule) ?? fallback;
  }

  /** A whole number within the bounds, both included. */
  integer(name: VariableOf<'integer'>): number {
    const { default: fallback } = VARIABLES[name];
    return this.#integer(name, fallback) ?? fallback;
  }

  derivedInteger(name: VariableOf<'derivedInteger'>): number | undefined {
    return this.#integer(name, VARIABLES[name].max);
  }

  #integer(name: VariableOf<'integer' | 'derivedInteger'>, example: number): number | undefined {
    const { min, max } = VARIABLES[name];
    const value = this.#read(name);
    if (value === undefined) return undefined;
    const number = Number(value);
    if (/^\d+$/.test(value) && number >= min && number <= max) return number;
    this.refuse(name, `write a whole number from ${min} to ${max}, for example ${example}`);
    return undefined;
  }

  flag(name: VariableOf<'flag'>): boolean {
    return this.derivedFlag(name, VARIABLES[name].default);
  }

  derivedFlag(name: VariableOf<'flag' | 'derivedFlag'>, fallback: boolean): boolean {
    const value = this.#read(name)?.toLowerCase();
    if (value === undefined) return fallback;
    if (value === 'true' || value === 'false') return value === 'true';
    this.refuse(name, 'write true or false');
    return fallback;
  }

  choice<Name extends VariableOf<'choice'>>(name: Name): (typeof VARIABLES)[Name]['choices'][number] {
    const { choices, default: fallback } = VARIABLES[name];
    const value = this.#read(name);
    if (value === undefined) return fallback;
    const chosen = choices.find(choice => choice === value.toLowerCase());
    if (chosen === undefined) this.refuse(name, `write one of ${choices.join(', ')}`);
    return chosen ?? fallback;
  }

  /** A comma-separated list without blanks and empty entries. */
  list(name: VariableOf<'list'>): string[] {
    return (this.#read(name) ?? '')
      .split(',')
      .map(item => item.trim())
      .filter(item => item !== '');
  }

  /** Whether it has a value that is not blank. */
  isGiven(name: VariableOf<'list'>): boolean {
    return this.#read(name) !== undefined;
  }

  /** Notes that a variable's value cannot be used. `hint` continues "write ...". */
  refuse(name: keyof typeof VARIABLES, hint: string): void {
    const { isNeverQuoted = false } = VARIABLES[name] as Partial<OptionalVariable>;
    const value = isNeverQuoted ? 'not usable' : `"${this.#environment[name] ?? ''}"`;
    this.#problems.push(`${name} is ${value}: ${hint}`);
  }

  /** @throws ConfigError when anything was refused */
  done(): void {
    if (this.#problems.length > 0) throw new ConfigError(this.#problems);
  }

  #read(name: keyof typeof VARIABLES, rule?: TextRule): string | undefined {
    const value = this.#environment[name]?.trim();
    if (value === undefined || value === '') return undefined;
    if (rule !== undefined && !rule.pattern.test(value)) this.refuse(name, rule.hint);
    return value;
  }
}
