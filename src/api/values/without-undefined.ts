/** `T` out of a literal whose optional fields may be undefined: such fields are left out. */
export function withoutUndefined<T extends object>(value: { [K in keyof T]: T[K] | undefined }): T;
export function withoutUndefined(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined));
}
