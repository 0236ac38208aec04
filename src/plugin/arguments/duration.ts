import { usageFailure } from '../failure.ts';

const SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;

/** The seconds of `90s`, `30m`, `2h`, `1h30m` or a plain number of seconds. @throws Failure that names the flag */
export function secondsOf(text: string, flag: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  if (!/^(\d+[smhd])+$/.test(text)) {
    throw usageFailure(`--${flag} must be a duration such as 90s, 30m or 2h, and not ${text}`);
  }
  const parts = text.matchAll(/(\d+)([smhd])/g);
  return [...parts].reduce(
    (sum, [, count, unit]) => sum + Number(count) * SECONDS[unit as keyof typeof SECONDS],
    0,
  );
}
