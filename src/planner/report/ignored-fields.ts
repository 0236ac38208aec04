import { type ConditionFinding, finding } from '../../api/conditions.ts';

/** Fields that are set and do nothing, in one condition; empty when there are none. */
export function ignoredFields(judged: readonly ConditionFinding[]): ConditionFinding[] {
  const fields = judged.filter(
    condition => condition.type === 'FieldsIgnored' && condition.status === 'True',
  );
  const messages = fields.map(condition => condition.message);
  return messages.length === 0 ? [] : [finding('FieldsIgnored', 'SomeIgnored', messages.join('; '))];
}
