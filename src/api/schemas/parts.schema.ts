/** The pieces that the schemas of the three kinds are made of. */
import * as z from 'zod';

/**
 * One CEL rule: what must hold, and what to write instead when it does not.
 * Semantics: kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-rules
 */
export type CelRule = {
  readonly rule: string;
  readonly message: string;
  /** Where the API server reports the fault, relative to the schema that carries the rule: `.spec.size`. */
  readonly fieldPath?: string;
};

/** The schema with CEL rules that the API server evaluates. Rules of an earlier call are kept. */
export function cel<T extends z.ZodType>(schema: T, ...rules: readonly CelRule[]): T {
  const earlier = (schema.meta()?.['x-kubernetes-validations'] ?? []) as readonly CelRule[];
  return schema.meta({ ...schema.meta(), 'x-kubernetes-validations': [...earlier, ...rules] });
}

/** A list that server-side apply merges by `keys`. */
export function listMap<T extends z.ZodType>(schema: T, ...keys: readonly string[]): T {
  return schema.meta({
    ...schema.meta(),
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': keys,
  });
}

/** A field that a living cluster keeps as it is when it is left out; a new one is made with `value`. */
export function kept<T extends z.ZodType>(schema: T, value: string | number | boolean): z.ZodOptional<T> {
  const { description = '' } = schema.meta() ?? {};
  const absent = `Absent: as it is; ${value} in a new cluster.`;
  return schema.meta({ ...schema.meta(), description: `${description} ${absent}` }).optional();
}

/** Text of at most `maxLength` characters: bounded, so that rules over it have a bounded cost. */
export function text(maxLength: number, description: string): z.ZodString {
  return z.string().max(maxLength).describe(description);
}

/**
 * One of the values that the operator writes into status. The schema only names them: an operator that is newer than its
 * CRD must still be able to write status.
 */
export function statusValue<const T extends readonly [string, ...string[]]>(values: T, description: string) {
  return z.enum(values).meta({
    description: `${description} One of: ${values.filter(value => value !== '').join(', ')}.`,
    [OPEN_ENUM]: true,
  });
}

/** Marks an enum whose values are left out of the CRD. */
export const OPEN_ENUM = 'x-open-enum';

/** A number that fits 32 bits. */
export function int32(description: string): z.ZodInt32 {
  return z.int32().describe(description);
}

/** A number up to 2^53, which is more than etcd's revisions and sizes reach. */
export function int64(description: string): z.ZodInt {
  return z.int().describe(description);
}

/** A number or text, whichever the person wrote. */
export function intOrString(maxLength: number, description: string) {
  return z
    .union([z.int(), z.string().max(maxLength)])
    .meta({ description, 'x-kubernetes-int-or-string': true, maxLength });
}

/** A quantity that must lie between two others, both included. */
export function quantityBetween(low: string, high: string, description: string) {
  const value = 'quantity(string(self))';
  return cel(intOrString(32, description), {
    rule: `isQuantity(string(self)) && ${value}.compareTo(quantity('${low}')) >= 0 && ${value}.compareTo(quantity('${high}')) <= 0`,
    message: `must be bytes or a size such as ${low}, from ${low} to ${high}`,
  });
}

/** JSON that is passed through to Kubernetes as it is: a field that this operator does not know is not lost. */
export function rawObject(description: string) {
  return z
    .record(z.string(), z.unknown())
    .meta({ description, 'x-kubernetes-preserve-unknown-fields': true });
}

/** An object of which some fields are read here and the rest is passed through. */
export function partlyRaw<T extends z.ZodRawShape>(shape: T, description: string) {
  return z.looseObject(shape).meta({ description, 'x-kubernetes-preserve-unknown-fields': true });
}

/** A quantity of zero or more (k8s.io/apimachinery/pkg/api/resource). */
const AMOUNT = '^[+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+|[KMGTPE]i|[numkMGTPE])?$';

/**
 * Amounts of resources, as in a container. The API server of a pod takes numbers with a fraction, such as 0.5, which int-or-string
 * does not: a pattern is asked of text alone, the minimum of numbers alone.
 */
export function amounts(description: string) {
  const amount = z
    .unknown()
    .meta({ 'x-kubernetes-preserve-unknown-fields': true, pattern: AMOUNT, minimum: 0 });
  return z.record(z.string(), amount).meta({ description, maxProperties: 32 });
}

/** A map of text to text with at most `maxProperties` keys. */
export function textMap(maxProperties: number, maxLength: number, description: string) {
  return z.record(z.string(), z.string().max(maxLength)).meta({ description, maxProperties });
}

/** The name of a Secret in the namespace of the resource; empty means none. */
export function secretName(description: string): z.ZodString {
  return cel(text(253, description), {
    rule: "self == '' || self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",
    message: 'must be the name of a Secret: lower-case letters, digits, dashes and dots',
  });
}

/** An id of etcd, such as that of a member. */
export function hexId(description: string): z.ZodString {
  return cel(text(16, description).min(1), {
    rule: "self.matches('^[0-9a-f]{1,16}$')",
    message: 'must be an id in lower-case hexadecimal, as etcdctl prints it',
  });
}

/** A duration such as 1h30m. */
export function duration(description: string): z.ZodString {
  return cel(text(32, description), {
    rule: "self.matches('^([0-9]+(\\\\.[0-9]+)?(ms|s|m|h))+$')",
    message: 'must be a duration such as 90s, 30m or 24h',
  });
}

/**
 * A cron expression, as far as the API server can judge it: five fields of the characters that cron knows, or a macro.
 * What is left is judged by the operator (conditions ScheduleValid and SpecValid).
 */
export function cronSchedule(description: string): z.ZodString {
  const field = '[-0-9A-Za-z*/,?]+';
  return cel(text(128, description), {
    rule: `self.matches('^(@(hourly|daily|midnight|weekly|monthly|yearly|annually)|${field}( +${field}){4})$')`,
    message:
      'must be a cron expression of five fields such as "30 2 * * *" (minute hour day month weekday), or @daily',
  });
}

/** A name of the time zone database. */
export function timeZone(description: string): z.ZodString {
  return cel(text(64, description), {
    rule: "self.matches('^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$')",
    message: 'must be a name of the time zone database such as UTC or Europe/Paris',
  });
}

/** metav1.Condition, as a list that is merged by type. */
export const conditions = listMap(
  z
    .array(
      z.object({
        type: text(316, 'What the condition is about.'),
        status: z
          .enum(['True', 'False', 'Unknown'])
          .describe('Unknown means that it was not possible to find out.'),
        observedGeneration: int64('The metadata.generation that this was judged for.').optional(),
        lastTransitionTime: z.iso.datetime().max(64).describe('When the status last changed.'),
        reason: text(1024, 'Why, as one word in CamelCase for programs.'),
        message: text(32768, 'The reason in plain text: what is wrong, where, and what to do.'),
      }),
    )
    .max(64)
    .describe('What is true, false or unknown about this object now.'),
  'type',
);
