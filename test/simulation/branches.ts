/** Which branches of the planner a run never reached: V8's own block coverage, begun before the planner is loaded. */
import { Session } from 'node:inspector/promises';
import { conditionOf } from './branch-conditions.ts';
import { Declarations, normalised, readSources } from './declarations.ts';

/** A branch that was never reached. */
export interface Unreached {
  /** `file:line` */
  readonly at: string;
  /** The function or constant of the module that it is in. */
  readonly in: string;
  /** What must hold for it to be reached; undefined: that the function is called. */
  readonly when: string | undefined;
  /** How it begins. */
  readonly text: string;
}

interface Range {
  readonly count: number;
  readonly startOffset: number;
  readonly endOffset: number;
}

export class Branches {
  readonly #session = new Session();

  /** Begins to count. Modules that were loaded before are not counted. */
  async begin(): Promise<void> {
    this.#session.connect();
    await this.#session.post('Profiler.enable');
    await this.#session.post('Profiler.startPreciseCoverage', { callCount: false, detailed: true });
  }

  /** Branches of loaded modules below this folder, e.g. `src/planner`, that were never reached. */
  async unreached(folder: string): Promise<Unreached[]> {
    const { result } = await this.#session.post('Profiler.takePreciseCoverage');
    const sources = readSources(folder);
    const declarations = new Declarations(sources);
    return sources
      .flatMap(source => {
        const functions = result.find(({ url }) => url.endsWith(`/${source.path}`))?.functions ?? [];
        return outermost(functions.flatMap(({ ranges }) => ranges)).map(range => {
          const { startOffset, endOffset } = range;
          const branch = source.text.slice(startOffset, endOffset);
          const start = endOffset - branch.trimStart().length;
          const declaration = declarations
            .of(source)
            .find(({ node }) => node.start <= start && start < node.end);
          return {
            at: `${source.path}:${source.text.slice(0, start).split('\n').length}`,
            in: declaration?.name ?? '',
            when: declaration === undefined ? branch : conditionOf(declaration, start, endOffset),
            text: branch.trim().split('\n')[0]?.slice(0, 100) ?? '',
          };
        });
      })
      .toSorted((a, b) => a.at.localeCompare(b.at, 'en', { numeric: true }));
  }
}

/** Those that were never reached, and not what is in them. */
function outermost(ranges: readonly Range[]): Range[] {
  const empty = ranges.filter(({ count }) => count === 0);
  return empty.filter(
    range =>
      !empty.some(
        other =>
          other !== range && other.startOffset <= range.startOffset && other.endOffset >= range.endOffset,
      ),
  );
}

/** Whether it is the same condition, however it is formatted. */
export function isSameCondition(one: string | undefined, other: string | undefined): boolean {
  return one === undefined || other === undefined ? one === other : normalised(one) === normalised(other);
}
