/** What it takes to replay the histories that live workflows have at most: every restart of the operator pays that. */
import { execFile } from 'node:child_process';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Row } from './figures.ts';
import type { Replayed } from './replay-process.ts';

const run = promisify(execFile);
const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/**
 * Milliseconds of processor time: an event, and the longest history of each type, beside a workflow of as many events that
 * does nothing.
 */
export async function measureReplay(): Promise<Row[]> {
  console.log(`the machine's load is ${loadavg()[0]?.toFixed(1)}`);
  return rowsOf(await replay());
}

async function replay(): Promise<Replayed[]> {
  const { stdout } = await run(process.execPath, [file('replay-process.ts')]);
  return JSON.parse(stdout.slice(stdout.lastIndexOf('\n[') + 1)) as Replayed[];
}

function rowsOf([floor, ...replayed]: readonly Replayed[]): Row[] {
  if (floor === undefined) throw new Error('nothing was replayed');
  const [longest] = replayed;
  const each = ({ events, milliseconds }: Replayed) => milliseconds.map(of => of / events);
  const perEvent: Row[] =
    longest === undefined
      ? []
      : [
          {
            what: `replay, an event of ${longest.type}`,
            unit: 'ms CPU',
            measured: each(longest),
            floor: { what: 'an event of nothing', measured: each(floor) },
          },
        ];
  return [
    ...perEvent,
    ...replayed.map(({ type, events, milliseconds }) => ({
      what: `replay, ${events} events of ${type}`,
      unit: 'ms CPU',
      measured: milliseconds,
      floor: { what: `${events} events of nothing`, measured: each(floor).map(of => of * events) },
    })),
  ];
}
