/** What is said of an environment variable, by its type. */
export interface TextRule {
  readonly pattern: RegExp;
  /** What to write instead, continuing "write ...". */
  readonly hint: string;
}

interface Common {
  readonly meaning: string;
}
interface TextVariable extends Common {
  readonly type: 'text';
  readonly default: string;
  readonly rule: TextRule;
}
export interface OptionalVariable extends Common {
  readonly type: 'optional';
  /** What holds when it is not given. */
  readonly otherwise: string;
  readonly rule?: TextRule;
  /** What is wrongly written here may be a secret, so that no message quotes it. */
  readonly isNeverQuoted?: true;
}
interface IntegerVariable extends Common {
  readonly type: 'integer';
  readonly default: number;
  readonly min: number;
  readonly max: number;
}
interface DerivedIntegerVariable extends Common {
  readonly type: 'derivedInteger';
  /** What it is when it is not given. */
  readonly otherwise: string;
  readonly min: number;
  readonly max: number;
}
interface FlagVariable extends Common {
  readonly type: 'flag';
  readonly default: boolean;
}
interface DerivedFlagVariable extends Common {
  readonly type: 'derivedFlag';
  /** What it is when it is not given. */
  readonly otherwise: string;
}
interface ChoiceVariable extends Common {
  readonly type: 'choice';
  readonly choices: readonly string[];
  readonly default: string;
}
interface ListVariable extends Common {
  readonly type: 'list';
  /** What an empty list means. */
  readonly otherwise: string;
}
export type Variable =
  | TextVariable
  | OptionalVariable
  | IntegerVariable
  | DerivedIntegerVariable
  | FlagVariable
  | DerivedFlagVariable
  | ChoiceVariable
  | ListVariable;
