/** Reads environment variables one by one and gathers everything that is wrong with them. */

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

export interface TextRule {
  readonly pattern: RegExp;
  /** What to write instead, continuing "write ...". */
  readonly hint: string;
}

/** An empty variable counts as absent: that is how manifests spell "not given". */
export class EnvironmentReader {
  readonly #environment: Environment;
  readonly #problems: string[] = [];

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  optional(name: string, rule?: TextRule): string | undefined {
    const value = this.#environment[name]?.trim();
    if (value === undefined || value === '') return undefined;
    if (rule !== undefined && !rule.pattern.test(value)) this.refuse(name, rule.hint);
    return value;
  }

  text(name: string, fallback: string, rule?: TextRule): string {
    return this.optional(name, rule) ?? fallback;
  }

  /** A whole number within the bounds, both included. */
  integer(name: string, fallback: number, bounds: { readonly min: number; readonly max: number }): number {
    const value = this.optional(name);
    if (value === undefined) return fallback;
    const number = Number(value);
    if (/^\d+$/.test(value) && number >= bounds.min && number <= bounds.max) return number;
    this.refuse(name, `write a whole number from ${bounds.min} to ${bounds.max}, for example ${fallback}`);
    return fallback;
  }

  flag(name: string, fallback: boolean): boolean {
    const value = this.optional(name)?.toLowerCase();
    if (value === undefined) return fallback;
    if (value === 'true' || value === 'false') return value === 'true';
    this.refuse(name, 'write true or false');
    return fallback;
  }

  oneOf<const T extends string>(name: string, choices: readonly T[], fallback: T): T {
    const value = this.optional(name);
    if (value === undefined) return fallback;
    const chosen = choices.find(choice => choice === value.toLowerCase());
    if (chosen === undefined) this.refuse(name, `write one of ${choices.join(', ')}`);
    return chosen ?? fallback;
  }

  /** A comma-separated list without blanks and empty entries. */
  list(name: string): string[] {
    return (this.optional(name) ?? '')
      .split(',')
      .map(item => item.trim())
      .filter(item => item !== '');
  }

  /** Notes that a variable's value cannot be used. `hint` continues "write ...". */
  refuse(name: string, hint: string): void {
    this.#problems.push(`${name} is "${this.#environment[name] ?? ''}": ${hint}`);
  }

  /** @throws ConfigError when anything was refused */
  done(): void {
    if (this.#problems.length > 0) throw new ConfigError(this.#problems);
  }
}
