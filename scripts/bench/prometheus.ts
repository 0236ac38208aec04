/** Reads texts in Prometheus' format. */

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Every value of a metric, in the order of the text. */
export function samples(text: string, metric: string): Sample[] {
  return text.split('\n').flatMap(line => {
    if (!line.startsWith(metric) || !['{', ' '].includes(line[metric.length] ?? '')) return [];
    const labels = [...line.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name = '', value = '']) => [
      name,
      value,
    ]);
    return [{ labels: Object.fromEntries(labels), value: Number(line.slice(line.lastIndexOf(' ') + 1)) }];
  });
}

/** The sum of a metric over all labels, or those that have the values given; 0 when there is none. */
export function sum(text: string, metric: string, where: Readonly<Record<string, string>> = {}): number {
  return samples(text, metric)
    .filter(({ labels }) => Object.entries(where).every(([name, value]) => labels[name] === value))
    .reduce((total, { value }) => total + value, 0);
}
