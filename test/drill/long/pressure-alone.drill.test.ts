/**
 * Operators with a fifth of a processor each, killed while many clusters are created, upgraded and restored: what was under way
 * continues. The long form of it, beside busy neighbours and slow servers, is long/pressure.drill.test.ts.
 */
import { pressureDrill } from '../../stack/drill/pressure.ts';

pressureDrill('with a fifth of a processor', {
  namespace: 'drill-pressure',
  ones: 5,
  threes: 1,
  patienceMs: 300_000,
});
