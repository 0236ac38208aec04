/**
 * The one operation that a resource may have at a time: a child workflow with a constant id. The two send each other nothing but what a
 * person asks for, and the operation's result.
 */
import type { Request } from '../api/values/requests.ts';
import type { Host } from './host.ts';

/** What an operation can be asked for while it is under way. */
export type Ask =
  /** To end. */
  | { readonly kind: 'abort'; readonly request: Request }
  /** To end after the step under way: a person asked for something, and a pass of the resource has to plan with it. */
  | { readonly kind: 'handOver' }
  /** To report its end to a run that has not started it. */
  | { readonly kind: 'follow' };

export interface SlotState<Ending> {
  /** Asked for since the last pass began, and not received by an operation. */
  asks: Ask[];
  /** The end of an operation that another run has started, as it was reported. */
  reported: Ending | undefined;
}

export interface SlotHost extends Host {
  /** Whether the operation was there to receive it. */
  ask(ask: Ask): Promise<boolean>;
}

/** An operation that was started. Its result never rejects. */
export interface Started<Ending> {
  readonly result: Promise<Ending>;
}

/** What is done beside an operation. */
export interface Meanwhile {
  /** From when on there is something to do, in milliseconds since the epoch; undefined: nothing. */
  due(): number | undefined;
  act(): Promise<void>;
}

/** How often to check that an operation which another run started still exists; it also reports its end. */
const CHECK_MS = 60_000;

/**
 * Until the operation has ended. `lost`: it does not exist any more, and how it ended is not known. `left`: the history of this run is long,
 * and the next run is to follow the operation.
 * @param started undefined: by another run
 */
export async function untilEnded<Ending>(
  state: SlotState<Ending>,
  host: SlotHost,
  { started, meanwhile }: { readonly started: Started<Ending> | undefined; readonly meanwhile: Meanwhile },
): Promise<Ending | 'lost' | 'left'> {
  let result: Ending | undefined;
  void started?.result.then(ending => (result = ending));
  const ended = () => result ?? (started === undefined ? state.reported : undefined);
  const isLong = () => host.history() === 'veryLong' && host.isEachAnswered();
  /** When an operation that another run started is asked next. */
  let checkAt = host.now() + CHECK_MS;
  const news = async (due: number | undefined): Promise<void> => {
    const isNews = () =>
      ended() !== undefined || state.asks.length > 0 || meanwhile.due() !== due || isLong();
    const latest = host.now() + CHECK_MS;
    await host.wait(isNews, started === undefined ? Math.min(due ?? checkAt, checkAt) : due);
    if (started !== undefined) return;
    const now = host.now();
    // What is due comes first, as it does in histories of releases that counted the time anew from each change.
    const isTime = now >= latest || (now >= checkAt && (due === undefined || now < due));
    if (!isTime || isNews()) return;
    checkAt = now + CHECK_MS;
    state.asks.push({ kind: 'follow' });
  };
  if (started === undefined) state.asks.unshift({ kind: 'follow' });
  for (;;) {
    const ending = ended();
    const [ask] = state.asks;
    const due = meanwhile.due();
    if (ending !== undefined) return ending;
    if (ask !== undefined) {
      const isThere = await host.ask(ask);
      state.asks = state.asks.filter(each => each !== ask);
      if (!isThere && started === undefined) return ended() ?? 'lost';
    } else if (due !== undefined && due <= host.now()) await meanwhile.act();
    else if (isLong()) return 'left';
    else await news(due);
  }
}
