/** Whether a cron expression and a time zone are understood, which the API server can only guess. Pure. */

type Field = {
  readonly name: string;
  readonly low: number;
  readonly high: number;
  readonly names?: readonly string[];
};

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const DAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];
/** Days that a month has at most, January first. */
const LENGTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const FIELDS: readonly [Field, Field, Field, Field, Field] = [
  { name: 'minute', low: 0, high: 59 },
  { name: 'hour', low: 0, high: 23 },
  { name: 'day of the month', low: 1, high: 31 },
  { name: 'month', low: 1, high: 12, names: MONTHS },
  // 7 is Sunday too.
  { name: 'day of the week', low: 0, high: 7, names: DAYS },
];

/** What a cron expression stands for: the values of each field, and which fields let everything through. */
export type CronFields = {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  /** 0 is Sunday. */
  readonly weekdays: ReadonlySet<number>;
  /** The hour begins with a star: then both passages of a repeated hour count. */
  readonly everyHour: boolean;
  /** Day of the month and weekday both begin without a star: then either is enough, as crontab(5) says. */
  readonly eitherDay: boolean;
};

/** What the macros stand for, as crontab(5) says. */
const MEANINGS: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
};

const MACROS = Object.keys(MEANINGS);

/** Undefined for an expression that has a {@link cronFault}. */
export function parseCron(expression: string): CronFields | undefined {
  if (cronFault(expression) !== undefined) return undefined;
  const text = expression.trim();
  const parts = (MEANINGS[text] ?? text).split(/\s+/);
  const [minutes, hours, days, months, named] = FIELDS.map((field, index) =>
    valuesOf(parts[index] ?? '', field),
  ) as [Values, Values, Values, Values, Values];
  const weekdays = new Set([...named].map(day => day % 7));
  const begins = (index: number) => /^[*?]/.test(parts[index] ?? '');
  const eitherDay = !begins(2) && !begins(4);
  return { minutes, hours, days, months, weekdays, everyHour: begins(1), eitherDay };
}

type Values = ReadonlySet<number>;

/** What is wrong with a cron expression (five fields as in crontab(5), or a macro), with what to write; undefined: nothing. */
export function cronFault(expression: string): string | undefined {
  const text = expression.trim();
  if (text.startsWith('@')) {
    return MACROS.includes(text) ? undefined : `${text} is no macro: write one of ${MACROS.join(', ')}`;
  }
  const parts = text.split(/\s+/);
  if (parts.length !== FIELDS.length) {
    return `it has ${parts.length} fields: write five, minute hour day month weekday`;
  }
  const values: (ReadonlySet<number> | string)[] = FIELDS.map((field, index) =>
    valuesOf(parts[index] ?? '', field),
  );
  const fault = values.find(value => typeof value === 'string');
  if (typeof fault === 'string') return fault;
  const [, , days, months] = values as ReadonlySet<number>[];
  return isStar(parts[4] ?? '') && days !== undefined && months !== undefined
    ? neverFault(days, months)
    : undefined;
}

/** What is wrong with a name of the time zone database; undefined: nothing. */
export function timeZoneFault(name: string): string | undefined {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return undefined;
  } catch {
    return `${name} is no time zone: write a name such as UTC or Europe/Paris`;
  }
}

const isStar = (text: string): boolean => text === '*' || text === '?';

/** A day that none of the months has, such as 30 February, never comes. */
function neverFault(days: ReadonlySet<number>, months: ReadonlySet<number>): string | undefined {
  const first = Math.min(...days);
  const comes = [...months].some(month => (LENGTHS[month - 1] ?? 31) >= first);
  return comes ? undefined : `day ${first} never comes in month ${[...months].join(', ')}`;
}

/** The numbers that a field stands for, or what is wrong with it. */
function valuesOf(text: string, field: Field): ReadonlySet<number> | string {
  const all = new Set<number>();
  for (const item of text.split(',')) {
    const found = rangeOf(item, field);
    if (typeof found === 'string') return found;
    for (let value = found.from; value <= found.to; value += found.step) all.add(value);
  }
  return all;
}

function rangeOf(item: string, field: Field): { from: number; to: number; step: number } | string {
  const fault = `${field.name} ${JSON.stringify(item)}: write ${field.low} to ${field.high}, a range such as ${field.low}-${field.high}, or * with a step such as */2`;
  const match = /^(?:(\*|\?)|([0-9A-Za-z]+)(?:-([0-9A-Za-z]+))?)(?:\/(\d{1,4}))?$/.exec(item);
  if (match === null) return fault;
  const [, star, first, last, stepText] = match;
  const step = stepText === undefined ? 1 : Number(stepText);
  if (star !== undefined) return step < 1 ? fault : { from: field.low, to: field.high, step };
  const from = numberOf(first ?? '', field);
  const open = last === undefined && stepText !== undefined;
  const to = open ? field.high : numberOf(last ?? first ?? '', field);
  return from === undefined || to === undefined || from > to || step < 1 ? fault : { from, to, step };
}

function numberOf(text: string, field: Field): number | undefined {
  const named = field.names?.indexOf(text.toUpperCase()) ?? -1;
  if (named >= 0) return named + field.low;
  const value = Number(text);
  return /^\d{1,2}$/.test(text) && value >= field.low && value <= field.high ? value : undefined;
}
