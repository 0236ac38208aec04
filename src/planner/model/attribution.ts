/** Who asked, and why, as messages for people have it. */
export function attribution(request: {
  readonly by?: string | undefined;
  readonly reason?: string | undefined;
}): string {
  const who = request.by ?? 'somebody';
  return request.reason === undefined ? who : `${who} (${request.reason})`;
}
