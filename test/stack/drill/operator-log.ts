/** What the replicas of the deployed operator have written, over kills and restarts. */
import { OPERATOR_NAMESPACE } from '../../../local/operator.ts';
import type { World } from '../e2e.ts';
import { poll } from '../poll.ts';

export interface LogLine {
  readonly time: string;
  readonly message: string;
  readonly because?: string;
}

/** Of the SDK's core: the server had given up waiting for this answer of an activity. */
const LATE_ACTIVITY = 'Activity not found on completion';
/** Likewise, of a workflow task. */
const LATE_TASK = 'Task not found when completing';

export class OperatorLog {
  readonly #world: World;
  readonly #since: string;
  readonly #lines = new Set<string>();

  /** @param since nothing from before is kept */
  constructor(world: World, since: Date) {
    this.#world = world;
    this.#since = since.toISOString();
  }

  /** Keeps what was written until now. To be called once after each kill: of the containers that ended a kubelet keeps the last. */
  async collect(): Promise<void> {
    const named = ['get', 'pods', '-l', 'app.kubernetes.io/name=etcd-operator', '-o', 'name'];
    const pods = (await this.#kubectl(...named)).trim().split('\n');
    for (const pod of pods) {
      // Between two containers there is for a moment no log to be had.
      const text = await poll(() => this.#kubectl('logs', pod), { timeoutMs: 30_000 });
      const before = await this.#kubectl('logs', pod, '--previous').catch(() => '');
      for (const line of `${before}\n${text}`.split('\n')) if (line.startsWith('{')) this.#lines.add(line);
    }
  }

  lines(): LogLine[] {
    const all = [...this.#lines].map(line => JSON.parse(line) as LogLine);
    return all.filter(({ time }) => time >= this.#since);
  }

  /** When a replica ceased to watch that neither was asked to nor was killed; milliseconds since the epoch. */
  leadershipsLost(): number[] {
    return this.lines()
      .filter(({ message, because }) => message === 'no longer leading' && because === 'lost')
      .map(({ time }) => Date.parse(time));
  }

  /** Answers of activities, and of workflow tasks, that Temporal did not take any more. */
  lateAnswers(): { readonly activities: number; readonly tasks: number } {
    const count = (text: string) => this.lines().filter(({ message }) => message.startsWith(text)).length;
    return { activities: count(LATE_ACTIVITY), tasks: count(LATE_TASK) };
  }

  #kubectl(...args: string[]): Promise<string> {
    return this.#world.stack.kubectl('-n', OPERATOR_NAMESPACE, ...args);
  }
}
