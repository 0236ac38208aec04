import { type ConditionFinding, finding } from '../../api/conditions.ts';
import type { Observation } from '../observation.ts';

/**
 * Everything in the specification that is not acted upon, in one condition: fields that do nothing (judged), and
 * changes of a living cluster that this release does not carry out. Empty when there is nothing of the kind.
 */
export function ignoredChanges(
  observation: Observation,
  judged: readonly ConditionFinding[],
): ConditionFinding[] {
  const fields = judged.filter(
    condition => condition.type === 'FieldsIgnored' && condition.status === 'True',
  );
  const messages = [...fields.map(condition => condition.message), ...changes(observation)];
  return messages.length === 0 ? [] : [finding('FieldsIgnored', 'SomeIgnored', messages.join('; '))];
}

function changes({ cluster }: Observation): string[] {
  const { status, config } = cluster;
  if (status.incarnation === undefined) return [];
  const said: string[] = [];
  const { currentVersion } = status;
  if (currentVersion !== undefined && currentVersion !== '' && currentVersion !== config.version) {
    said.push(
      `spec.version: the members stay at ${currentVersion}, this release does not upgrade a living cluster`,
    );
  }
  return said;
}
