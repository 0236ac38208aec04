/** Settings that the next minor would lose: etcd ignores a variable of a flag that it does not know, without a word. */
import {
  type Departure,
  FLAGS_GONE,
  FLAGS_RENAMED,
  FLAGS_THAT_BECAME_GATES,
} from '../../../api/versions/table.ts';

/**
 * Which of these environment variables stand for flags that the next minor does not have, where etcd says so, and what to
 * write instead; undefined when there is none.
 */
export function settingsGone(
  environment: readonly string[],
  { to, flagsReference }: Pick<Departure, 'to' | 'flagsReference'>,
): string | undefined {
  const gone = environment.filter(
    name => name.startsWith('ETCD_') && FLAGS_GONE[to].some(pattern => pattern.test(flagOf(name))),
  );
  if (gone.length === 0) return undefined;
  return `etcd ${to} ignores ${gone.join(', ')}, which spec.pod.etcdEnv sets: ${to} has removed the flag (${flagsReference}). In spec.pod.etcdEnv ${gone.map(insteadOf).join('; ')}`;
}

function flagOf(variable: string): string {
  return variable.slice('ETCD_'.length).toLowerCase().replaceAll('_', '-');
}

/** New names and gates are known from 3.6 on, the last minor that knows the old ones: so they are written before it is left. */
function insteadOf(variable: string): string {
  const plain = flagOf(variable).replace(/^experimental-/, '');
  const gate = FLAGS_THAT_BECAME_GATES[plain];
  if (gate !== undefined) return `add ${gate}=true to ETCD_FEATURE_GATES instead of ${variable}`;
  return FLAGS_RENAMED.includes(plain)
    ? `replace ${variable} with ${variable.replace('EXPERIMENTAL_', '')}`
    : `remove ${variable}`;
}
