/** Which branches of the planner a run never reached: V8's own block coverage, begun before the planner is loaded. */
import { readFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';

/** A branch that was never reached: `file:line`, and how it begins. */
export interface Unreached {
  readonly at: string;
  readonly text: string;
}

export class Branches {
  readonly #session = new Session();

  /** Begins to count. Modules that were loaded before are not counted. */
  async begin(): Promise<void> {
    this.#session.connect();
    await this.#session.post('Profiler.enable');
    await this.#session.post('Profiler.startPreciseCoverage', { callCount: false, detailed: true });
  }

  /** Branches of loaded modules below this folder (a path as in URLs, e.g. `/src/planner/`) that were never reached. */
  async unreached(folder: string): Promise<Unreached[]> {
    const { result } = await this.#session.post('Profiler.takePreciseCoverage');
    return result
      .filter(({ url }) => url.includes(folder))
      .flatMap(({ url, functions }) => {
        const source = readFileSync(fileURLToPath(url), 'utf8');
        const empty = functions.flatMap(({ ranges }) => ranges.filter(({ count }) => count === 0));
        const outer = empty.filter(
          range =>
            !empty.some(
              other =>
                other !== range &&
                other.startOffset <= range.startOffset &&
                other.endOffset >= range.endOffset,
            ),
        );
        return outer.map(({ startOffset, endOffset }) => ({
          at: `${url.slice(url.indexOf(folder) + 1)}:${source.slice(0, startOffset).split('\n').length}`,
          text: source.slice(startOffset, endOffset).trim().split('\n')[0]?.slice(0, 100) ?? '',
        }));
      })
      .toSorted((a, b) => a.at.localeCompare(b.at, 'en', { numeric: true }));
  }
}
