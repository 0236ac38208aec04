/**
 * Does something `count` times, so many of them at once, in the order of their numbers, which begin at 0. Fails with the first failure; what
 * is under way then goes on.
 */
export async function inOrder(
  count: number,
  atOnce: number,
  act: (number: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const some = async (): Promise<void> => {
    for (let number = next++; number < count; number = next++) await act(number);
  };
  await Promise.all(Array.from({ length: atOnce }, some));
}
