/** Settings that another minor would lose: etcd ignores a variable of a flag that it does not know, without a word. */
import type { EnvVar } from '../../../api/schemas/types.ts';
import {
  type Departure,
  type Descent,
  FLAGS_GONE,
  FLAGS_NEW,
  FLAGS_RENAMED,
  FLAGS_THAT_BECAME_GATES,
  GATES_NEW,
} from '../../../api/versions/table.ts';

const FEATURE_GATES = 'ETCD_FEATURE_GATES';

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

/** As {@link settingsGone}, of the minor before: what it does not know yet. Gates that it does not know keep it from starting. */
export function settingsUnknown(
  environment: readonly Pick<EnvVar, 'name' | 'value'>[],
  { from, to, reference }: Descent,
): string | undefined {
  const unknown = environment.filter(({ name }) => name.startsWith('ETCD_') && isNewIn(from, flagOf(name)));
  if (unknown.length > 0) {
    const names = unknown.map(({ name }) => name);
    return `etcd ${to} ignores ${names.join(', ')}, which spec.pod.etcdEnv sets: ${from} has introduced the flag (${reference}). In spec.pod.etcdEnv ${names.map(earlierFormOf).join('; ')}`;
  }
  const gates = environment.find(({ name }) => name === FEATURE_GATES)?.value ?? '';
  const strange = GATES_NEW[from].filter(gate => gates.split(',').some(each => each.startsWith(`${gate}=`)));
  if (strange.length === 0) return undefined;
  return `etcd ${to} does not start with the feature gate ${strange.join(' and ')}, which ${FEATURE_GATES} of spec.pod.etcdEnv names: ${from} has introduced it (${reference}). Remove ${strange.join(' and ')} from ${FEATURE_GATES}`;
}

function isNewIn(minor: Descent['from'], flag: string): boolean {
  const isRenamed = minor === '3.6' && FLAGS_RENAMED.includes(flag);
  return isRenamed || FLAGS_NEW[minor].some(pattern => pattern.test(flag));
}

function flagOf(variable: string): string {
  return variable.slice('ETCD_'.length).toLowerCase().replaceAll('_', '-');
}

/** New names and gates are known from 3.6 on, the last minor that knows the old ones: so they are written before it is left. */
function insteadOf(variable: string): string {
  const plain = flagOf(variable).replace(/^experimental-/, '');
  const gate = FLAGS_THAT_BECAME_GATES[plain];
  if (gate !== undefined) return `add ${gate}=true to ${FEATURE_GATES} instead of ${variable}`;
  return FLAGS_RENAMED.includes(plain)
    ? `replace ${variable} with ${variable.replace('EXPERIMENTAL_', '')}`
    : `remove ${variable}`;
}

/** 3.6 knows the old names, too, which 3.5 has; not beside gates. */
function earlierFormOf(variable: string): string {
  if (variable === FEATURE_GATES) {
    const forms = Object.entries(FLAGS_THAT_BECAME_GATES).map(
      ([flag, gate]) => `${gate} is ETCD_EXPERIMENTAL_${flag.toUpperCase().replaceAll('-', '_')}`,
    );
    return `remove ${variable} and write the variables of its gates (${forms.join(', ')})`;
  }
  const flag = flagOf(variable);
  const isOlder = FLAGS_RENAMED.includes(flag) && !FLAGS_NEW['3.6'].some(pattern => pattern.test(flag));
  return isOlder
    ? `replace ${variable} with ${variable.replace('ETCD_', 'ETCD_EXPERIMENTAL_')}`
    : `remove ${variable}`;
}
