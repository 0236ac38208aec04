import { type ConditionFinding, finding } from '../../api/conditions/catalogue.ts';
import { keptFields } from '../../api/derived/settings-in-force.ts';
import type { EtcdCluster } from '../../api/schemas/types.ts';

/** Fields that are set and do nothing, in one condition; empty when there are none. */
export function ignoredFields(judged: readonly ConditionFinding[]): ConditionFinding[] {
  const fields = judged.filter(
    condition => condition.type === 'FieldsIgnored' && condition.status === 'True',
  );
  const messages = fields.map(condition => condition.message);
  return messages.length === 0 ? [] : [finding('FieldsIgnored', 'SomeIgnored', messages.join('; '))];
}

/** Fields that are left out and keep what they were, in one condition; empty when there are none. */
export function fieldsKept(cluster: EtcdCluster): ConditionFinding[] {
  const fields = keptFields(cluster);
  const advice = 'set a field to change it';
  return fields.length === 0 ? [] : [finding('FieldsKept', 'SomeKept', `${fields.join('; ')}; ${advice}`)];
}
