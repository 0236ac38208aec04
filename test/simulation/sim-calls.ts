/** Calls of the operator on the wire, and executions of activities that make them. Nothing arrives until it is delivered. */
import { createActivities, type Dependencies, type Step } from '../../src/activities/index.ts';
import type { EtcdPort } from '../../src/etcd/port.ts';
import type { KubeClient } from '../../src/kube/port.ts';
import { ActivityEnvironment } from '../worlds/activity-environment.ts';

/** A pass or a step may take so long, and what moves data hours (src/workflows/temporal/activities.ts). */
const LIMIT_MS = 20_000;
const MOVES_DATA = ['fillVolume', 'compareKeys'];
/** Of the workflow of a cluster, besides its steps. */
const BESIDE_STEPS = ['assess', 'recordRequests', 'reportPassFailure'];

/** One execution of an activity, by one process. */
export interface Attempt {
  readonly activity: string;
  /** What it stops a member for. */
  readonly purpose: string | undefined;
  readonly environment: ActivityEnvironment;
  /** What it is to do; undefined for a pass. */
  readonly step: Step | undefined;
  dead: boolean;
  /** Nobody waits for it any more, and it continues. */
  zombie: boolean;
  /** When it began, in milliseconds. */
  readonly begunAt: number;
  /** At which tick it last read the resource, with which every look at the world begins. */
  lookedAt: number;
  /** At which tick the look before that began. */
  lookedBefore: number;
  /** Ends the wait of its caller. */
  abandon: (how: 'died') => void;
}

export interface Call {
  readonly attempt: Attempt;
  readonly what: string;
  readonly isEtcd: boolean;
  readonly run: () => Promise<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

class Dead extends Error {}

export interface Ports {
  /** Made for one attempt, so that it is known who acts. */
  readonly kube: (attempt: Attempt) => KubeClient;
  readonly etcd: (attempt: Attempt) => EtcdPort;
  readonly rest: Omit<Dependencies, 'kube' | 'etcd'>;
  readonly tick: () => number;
  readonly now: () => number;
  /** Throws when the apiserver refuses calls of this kind, such as `create Pod`. */
  readonly admit: (what: string) => void;
}

export class Calls {
  readonly pending: Call[] = [];
  readonly attempts = new Set<Attempt>();
  readonly #ports: Ports;

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  /** Has an activity executed; `died` when its process was killed over it or nobody waits any more. */
  execute(activity: string, ...args: readonly unknown[]): Promise<unknown> {
    const environment = new ActivityEnvironment();
    let abandon: Attempt['abandon'] = () => {};
    const abandoned = new Promise<'died'>(resolve => (abandon = resolve));
    const lookedAt = this.#ports.tick();
    const attempt: Attempt = {
      activity,
      purpose: (args[1] as { readonly purpose?: string } | undefined)?.purpose,
      environment,
      step: BESIDE_STEPS.includes(activity) ? undefined : (args[1] as Step),
      dead: false,
      zombie: false,
      begunAt: this.#ports.now(),
      lookedAt,
      lookedBefore: lookedAt,
      abandon,
    };
    this.attempts.add(attempt);
    const activities = createActivities({
      ...this.#gatedStores(attempt),
      kube: this.#gate(attempt, this.#ports.kube(attempt)),
      etcd: this.#gatedEtcd(attempt, this.#ports.etcd(attempt)),
    }) as unknown as Record<string, (...given: readonly unknown[]) => Promise<unknown>>;
    const run = activities[activity];
    if (run === undefined) throw new RangeError(`there is no activity ${activity}`);
    const ended = environment.run(() => run(...args)).finally(() => this.attempts.delete(attempt));
    ended.catch(() => undefined);
    return Promise.race([ended, abandoned]);
  }

  /** Nobody waits any more for what takes longer than Temporal lets it; it continues until it hears of that. */
  timeOut(): void {
    const now = this.#ports.now();
    for (const attempt of this.attempts) {
      const isLimited = BESIDE_STEPS.includes(attempt.activity) || attempt.step?.kind === attempt.activity;
      if (!isLimited || attempt.zombie || MOVES_DATA.includes(attempt.activity)) continue;
      if (now - attempt.begunAt <= LIMIT_MS) continue;
      attempt.zombie = true;
      attempt.abandon('died');
    }
  }

  /** Ends an execution as a power cut does: nothing of it arrives any more. */
  kill(attempt: Attempt): void {
    attempt.dead = true;
    attempt.environment.cancel();
    attempt.abandon('died');
    for (const call of this.pending.filter(pending => pending.attempt === attempt)) {
      this.pending.splice(this.pending.indexOf(call), 1);
      call.reject(new Dead('the process is dead'));
    }
  }

  #enter(attempt: Attempt, of: Pick<Call, 'what' | 'isEtcd' | 'run'>): Promise<unknown> {
    if (attempt.dead) return Promise.reject(new Dead('the process is dead'));
    return new Promise((resolve, reject) => this.pending.push({ attempt, resolve, reject, ...of }));
  }

  #gate(attempt: Attempt, kube: KubeClient): KubeClient {
    const gated: Record<string, unknown> = {};
    for (const verb of ['get', 'list', 'create', 'apply', 'patch', 'replace', 'delete'] as const) {
      const method = kube[verb] as (...args: unknown[]) => Promise<unknown>;
      gated[verb] = (...args: unknown[]) => {
        const { kind } = args[0] as { kind: string };
        const run = async () => {
          this.#ports.admit(`${verb} ${kind}`);
          if (verb === 'get' && kind === 'EtcdCluster')
            Object.assign(attempt, { lookedBefore: attempt.lookedAt, lookedAt: this.#ports.tick() });
          return method(...args);
        };
        return this.#enter(attempt, { what: `${verb} ${kind}`, isEtcd: false, run });
      };
    }
    return gated as unknown as KubeClient;
  }

  /** Stores are opened as anything is called; what is done to an opened one takes effect at once. */
  #gatedStores(attempt: Attempt): Ports['rest'] {
    const { rest } = this.#ports;
    const gated =
      <Args extends readonly unknown[], Result>(what: string, open: (...args: Args) => Promise<Result>) =>
      (...args: Args) =>
        this.#enter(attempt, { what, isEtcd: false, run: () => open(...args) }) as Promise<Result>;
    return {
      ...rest,
      openStore: gated('open the store', rest.openStore),
      openVolume: gated('open the volume', rest.openVolume),
    };
  }

  #gatedEtcd(attempt: Attempt, etcd: EtcdPort): EtcdPort {
    return {
      member: target => {
        const member = etcd.member(target) as unknown as Record<
          string,
          (...args: unknown[]) => Promise<unknown>
        >;
        const gated: Record<string, unknown> = { close: () => {} };
        for (const [what, method] of Object.entries(member)) {
          if (what === 'close') continue;
          gated[what] = (...args: unknown[]) =>
            this.#enter(attempt, { what, isEtcd: true, run: () => method(...args) });
        }
        return gated as unknown as ReturnType<EtcdPort['member']>;
      },
    };
  }
}
