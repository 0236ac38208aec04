/** Writes docs/reference/ from the sources that the operator itself runs on. */
import { apiReference } from './reference/api.ts';
import { conditionsReference } from './reference/conditions.ts';
import { configurationReference } from './reference/configuration.ts';
import { eventsReference } from './reference/events.ts';
import { metricsReference } from './reference/metrics.ts';
import { obstaclesReference } from './reference/obstacles.ts';
import { versionsReference } from './reference/versions.ts';

/** The generated files: path from the root of the checkout to content. The same input gives the same bytes. */
export function generateReference(): Map<string, string> {
  return new Map([
    ['docs/reference/api.md', apiReference()],
    ['docs/reference/conditions.md', conditionsReference()],
    ['docs/reference/configuration.md', configurationReference()],
    ['docs/reference/events.md', eventsReference()],
    ['docs/reference/metrics.md', metricsReference()],
    ['docs/reference/obstacles.md', obstaclesReference()],
    ['docs/reference/versions.md', versionsReference()],
  ]);
}
