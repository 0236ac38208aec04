/** From where to where an operation leads, such as `, 3.5.9 to 3.6.16`; nothing when neither is recorded. Pure. */
export function changeOf({
  from,
  to,
}: {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}): string {
  return from === undefined && to === undefined ? '' : `, ${from ?? '?'} to ${to ?? '?'}`;
}
