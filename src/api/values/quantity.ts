/** Kubernetes quantities and durations, as far as the operator computes with them. Pure. */

const FACTORS: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  '': 1,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/**
 * The number that a quantity (`8Gi`, `500m`, `1e9`, 42) stands for; undefined when it is none.
 * Syntax: k8s.io/apimachinery/pkg/api/resource. Exact up to 2^53, which is far above what etcd can store.
 */
export function parseQuantity(quantity: string | number): number | undefined {
  if (typeof quantity === 'number') return Number.isFinite(quantity) ? quantity : undefined;
  const match = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:([eE][+-]?\d+)|([KMGTPE]i|[numkMGTPE]))?$/.exec(quantity);
  if (match === null) return undefined;
  const number = Number(`${match[1]}${match[2] ?? ''}`);
  const factor = FACTORS[match[3] ?? ''];
  return factor === undefined || !Number.isFinite(number) ? undefined : number * factor;
}

/** Whole bytes of a quantity, rounded up; undefined when it is none or negative. */
export function parseBytes(quantity: string | number): number | undefined {
  const value = parseQuantity(quantity);
  return value === undefined || value < 0 ? undefined : Math.ceil(value);
}

const SECONDS: Readonly<Record<string, number>> = { ms: 1e-3, s: 1, m: 60, h: 3600 };

/** Seconds of a Go duration made of hours, minutes, seconds and milliseconds (`1h30m`); undefined when it is none. */
export function parseDurationSeconds(duration: string): number | undefined {
  if (!/^(\d+(?:\.\d+)?(?:ms|s|m|h))+$/.test(duration)) return duration === '0' ? 0 : undefined;
  let seconds = 0;
  for (const [, count, unit] of duration.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)) {
    seconds += Number(count) * (SECONDS[unit ?? ''] ?? 0);
  }
  return seconds;
}
