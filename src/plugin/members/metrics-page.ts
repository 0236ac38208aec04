import { METRICS_PORT } from '../../api/names.ts';
import { reach, type Where } from '../views/command-lines.ts';

/** The arguments by which kubectl reads the metrics of a member, through the API server: it takes `get` of `pods/proxy`. */
export function metricsPage(where: Where, pod: string): readonly string[] {
  const path = `/api/v1/namespaces/${where.namespace}/pods/${pod}:${METRICS_PORT}/proxy/metrics`;
  return ['get', ...reach(where), '--raw', path];
}
