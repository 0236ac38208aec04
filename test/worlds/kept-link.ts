/** The operator's side of Temporal with what it says of it: the link, and what keeps the namespace. */
import type { Config } from '../../src/main/config/config.ts';
import { linkTemporal, type TemporalLink } from '../../src/main/temporal/link.ts';
import { keepNamespace, type NamespaceKeeper } from '../../src/main/temporal/namespace-keeper.ts';
import { createLogger } from '../../src/telemetry/logger.ts';
import { createScrubber } from '../../src/telemetry/scrub.ts';

export interface KeptLink {
  readonly link: TemporalLink;
  readonly keeper: NamespaceKeeper;
}

/** What it says while a test runs. */
interface Said {
  /** Every line, scrubbed as the operator scrubs it. */
  log: string;
  /** Whether the files hold something else than what is in use. */
  isOutdated: boolean;
}

interface Keeping {
  readonly said: Said;
  /** To which the end of both is added. */
  readonly stops: (() => Promise<unknown>)[];
  /** Milliseconds between two looks at the files. */
  readonly everyMs?: number;
  /** Milliseconds that replaced connections stay open. */
  readonly closeAfterMs?: number;
}

/** Connects as the operator does when it starts. Only what waits for the keeper to be ready gets its failures. */
export function keepLink(
  temporal: Config['temporal'],
  { said, stops, everyMs = 200, closeAfterMs = 1_000 }: Keeping,
): KeptLink {
  const secrets = new Set<string>();
  const destination = { write: (line: string) => void (said.log += line) };
  const logger = createLogger({ level: 'debug', scrub: createScrubber(secrets), destination });
  const link = linkTemporal({
    temporal,
    identity: 'test',
    logger,
    keepSecret: text => secrets.add(text),
    onOutdated: isOutdated => (said.isOutdated = isOutdated),
    everyMs,
    closeAfterMs,
  });
  stops.push(() => link.close());
  const stop = new AbortController();
  const { signal } = stop;
  const keeper = keepNamespace(() => link.connection(), {
    spec: temporal,
    logger,
    signal,
    onReplaced: () => {},
  });
  keeper.ready.catch(() => {});
  stops.push(async () => stop.abort());
  return { link, keeper };
}
