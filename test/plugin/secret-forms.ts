/** All spellings of a secret in which it could leave. */
export function secretForms(text: string): readonly string[] {
  const shifted = [0, 1, 2].map(shift =>
    // The same bytes at another place of a longer base64 text.
    Buffer.from(' '.repeat(shift) + text)
      .toString('base64')
      .slice(shift === 0 ? 0 : 4, -4),
  );
  const escaped = JSON.stringify(text).slice(1, -1);
  return [text, escaped, ...shifted, Buffer.from(text).toString('hex'), encodeURIComponent(text)];
}
