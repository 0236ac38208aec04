/** The workflows, and the least that one can do: the floor beside which the cost of a replay is printed. */
import { proxyActivities } from '@temporalio/workflow';

export * from '../../src/workflows/index.ts';
export { default } from '../../src/workflows/index.ts';

/** Has an activity done so many times that does nothing. */
export async function floor(times: number): Promise<void> {
  const { nothing } = proxyActivities<{ nothing(): Promise<void> }>({ startToCloseTimeout: '10s' });
  for (let done = 0; done < times; done += 1) await nothing();
}
