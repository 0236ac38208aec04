/**
 * The operator's entry point: puts everything together from the environment, runs until it is stopped or
 * something fails that only a restart can cure, and ends in order.
 */
import { parseConfig } from './config/config.ts';
import { ConfigError } from './config/environment.ts';
import { createLogger } from '../telemetry/logger.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { RecentSecrets } from '../telemetry/recent-secrets.ts';
import { createScrubber } from '../telemetry/scrub.ts';
import { failure } from './retry.ts';
import { startOperator } from './operator/start.ts';
import { uncaughtHandler } from './operator/uncaught.ts';

/** The pod has 60 s between SIGTERM and SIGKILL; the worker takes up to 20 of them. */
const stopLimitMs = 45_000;

const exitCode = { stopped: 0, failed: 1, badConfig: 2 } as const;

async function main(): Promise<number> {
  const config = parseConfig(process.env);
  const secrets = new RecentSecrets(config.redact);
  const scrub = createScrubber(secrets);
  const logger = createLogger({ level: config.logLevel, scrub, fields: { pod: config.pod.name } });
  const metrics = createMetrics({ mostResources: config.metricsResources });
  const distrust = failure();
  process.on(
    'uncaughtException',
    uncaughtHandler({ logger, count: metrics.uncaught, giveUp: distrust.fail }),
  );
  const operator = await startOperator(config, {
    logger,
    scrub,
    metrics,
    keepSecret: text => secrets.add(text),
  }).catch((error: unknown) => logger.error('operator cannot start, exiting', { error }));
  if (operator === undefined) return exitCode.failed;
  const signal = new Promise<string>(resolve => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => resolve(name));
  });
  const failed = Promise.race([operator.failed, distrust.failed]).then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  const cause = await Promise.race([signal.then(name => ({ signal: name })), failed]);
  const hasFailed = cause !== undefined && 'error' in cause;
  if (hasFailed) logger.error('operator failed, exiting', { error: cause.error });
  else logger.info('operator is stopping', { ...cause });
  setTimeout(() => {
    logger.error('operator did not stop in time, exiting', { seconds: stopLimitMs / 1000 });
    process.exit(exitCode.failed);
  }, stopLimitMs).unref();
  await operator.stop();
  logger.info('operator stopped');
  return hasFailed ? exitCode.failed : exitCode.stopped;
}

try {
  // Explicitly, since a library's forgotten timer must not keep a stopped operator in its pod.
  process.exit(await main());
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  console.error(error.message);
  process.exit(exitCode.badConfig);
}
