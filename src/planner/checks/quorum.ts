/**
 * How many voters must agree: `floor(voters / 2) + 1` (etcd docs, "FAQ: What is failure tolerance?").
 * @param voters the number of voting members, 0 or more. With 0 voters nothing can ever agree: the answer is 1.
 */
export function quorum(voters: number): number {
  return Math.floor(voters / 2) + 1;
}
