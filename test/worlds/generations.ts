/**
 * The operator replaced by one of another engine generation, and back, in the middle of an operation, while a pause and an approval are open: what
 * ran is terminated and begun again from the world, as the watcher of a new operator does it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { defineSearchAttributeKey } from '@temporalio/common';
import { expect } from 'vitest';
import type { Activities } from '../../src/activities/index.ts';
import { API_VERSION, copiesWorkflowId, type ResourceRef, workflowId } from '../../src/api/names.ts';
import type { EtcdRequest, EtcdRequestSpec } from '../../src/api/schemas/types.ts';
import { ENGINE_GENERATION, GENERATION_ATTRIBUTE } from '../../src/api/values/engine-generation.ts';
import type { WritableObject } from '../../src/kube/port.ts';
import { terminateOtherGenerations } from '../../src/main/temporal/generations.ts';
import { changedSignal } from '../../src/workflows/messages/resource.ts';
import type { FakeKube } from '../fakes/kubernetes/kube.ts';
import { poll } from '../stack/poll.ts';
import type { WorkflowBench } from './workflow-bench.ts';

const GENERATION = defineSearchAttributeKey(GENERATION_ATTRIBUTE, 'INT');
const TYPES = { EtcdCluster: 'etcdCluster', EtcdBackup: 'etcdBackup', EtcdRestore: 'etcdRestore' } as const;

/** A step that is held when it is performed for the `nth` time; what the operator that was replaced had begun goes on in the end, or dies with it. */
export class HeldStep {
  readonly kind: string;
  readonly #nth: number;
  #begun = 0;
  #hasEnded = false;
  #end: (how: 'goesOn' | 'dies') => void = () => {};
  readonly #ended = new Promise<'goesOn' | 'dies'>(resolve => (this.#end = resolve));

  constructor(kind: string, nth = 1) {
    this.kind = kind;
    this.#nth = nth;
  }

  get isReached(): boolean {
    return this.#begun >= this.#nth;
  }

  end(how: 'goesOn' | 'dies'): void {
    this.#hasEnded = true;
    this.#end(how);
  }

  /** The activities with this step held. */
  in(activities: Activities): Activities {
    const perform = Reflect.get(activities, this.kind) as (...args: unknown[]) => Promise<unknown>;
    const held = async (...args: unknown[]) => {
      this.#begun += 1;
      if (!this.isReached || this.#hasEnded) return perform(...args);
      const { heartbeat } = Context.current();
      const beats = setInterval(() => heartbeat(), 1_000);
      const how = await this.#ended.finally(() => clearInterval(beats));
      if (how === 'dies') throw new Error('the operator was replaced');
      return perform(...args);
    };
    return { ...activities, [this.kind]: held };
  }
}

/** Resources whose workflows run on a real Temporal, over a world in memory. */
export interface Scene {
  readonly kube: FakeKube;
  readonly taskQueue: string;
  /** Whose operation is replaced; its messages come first. */
  readonly of: ResourceRef;
  /** Those whose workflows run beside it. */
  beside?(): readonly ResourceRef[];
  /** Milliseconds since the epoch, as the world has it. */
  now(): number;
  /** Everything but the operator moves on. */
  advance(): void;
}

export class Generations {
  readonly #bench: WorkflowBench;
  readonly #scene: Scene;
  #generation = ENGINE_GENERATION;

  constructor(bench: WorkflowBench, scene: Scene) {
    this.#bench = bench;
    this.#scene = scene;
  }

  get handle() {
    return this.#bench.client.workflow.getHandle(workflowId(this.#scene.of));
  }

  get operation() {
    return this.#bench.client.workflow.getHandle(`${workflowId(this.#scene.of)}/operation`);
  }

  /** What the watcher does. */
  async changed(): Promise<void> {
    const { of, taskQueue } = this.#scene;
    for (const { kind, ...ref } of [of, ...(this.#scene.beside?.() ?? [])])
      await this.#bench.client.workflow.signalWithStart(TYPES[kind], {
        workflowId: workflowId({ kind, ...ref }),
        taskQueue,
        args: [ref],
        signal: changedSignal,
        signalArgs: [{}],
        typedSearchAttributes: [{ key: GENERATION, value: this.#generation }],
      });
  }

  /** Waits for it, while the world moves on and the watcher signals. */
  async until(what: string, is: () => boolean | Promise<boolean>, otherwise?: () => unknown): Promise<void> {
    let ticks = 0;
    await poll(
      async () => {
        if (await is()) return true;
        this.#scene.advance();
        ticks += 1;
        if (ticks % 8 === 0) await this.changed();
        return false;
      },
      {
        timeoutMs: 180_000,
        intervalMs: 100,
        otherwise: () => `${what}: ${JSON.stringify(otherwise?.() ?? '')}`,
      },
    );
  }

  /** Another operator takes over: it terminates what runs, and begins it anew. Answers how many workflows it terminated. */
  async replace(): Promise<number> {
    const { taskQueue } = this.#scene;
    this.#generation = this.#generation === ENGINE_GENERATION ? ENGINE_GENERATION + 1 : ENGINE_GENERATION;
    const generation = this.#generation;
    await this.#bench.serveWorkflows({ taskQueue }, generation);
    const pause = () => delay(250);
    let terminated = 0;
    // The list of workflows lags behind.
    await poll(async () => {
      terminated += await terminateOtherGenerations(this.#bench.client, { taskQueue, generation, pause });
      return terminated > 0;
    });
    await this.changed();
    return terminated;
  }

  /** The names of the operations that run. */
  async running(): Promise<readonly string[]> {
    const copies = this.#bench.client.workflow.getHandle(copiesWorkflowId(this.handle.workflowId));
    const runs = [this.handle, this.operation, copies].map(run => run.describe().catch(() => undefined));
    const found = await Promise.all(runs);
    return found.flatMap(run => (run?.status.name === 'RUNNING' ? [run.type] : []));
  }

  /** A user creates an EtcdRequest. */
  request(name: string, spec: Pick<EtcdRequestSpec, 'action' | 'member' | 'reason'>): void {
    const { kube, of, now } = this.#scene;
    const target = of.kind === 'EtcdBackup' ? 'backupRef' : 'clusterRef';
    kube.seed({
      apiVersion: API_VERSION,
      kind: 'EtcdRequest',
      metadata: {
        name: `${of.name}-${name}`,
        namespace: of.namespace,
        creationTimestamp: new Date(now()).toISOString(),
      },
      spec: { [target]: { name: of.name }, by: 'bob', expiresAfterSeconds: 86_400, ...spec },
    } as unknown as WritableObject);
  }

  phase(name: string): string | undefined {
    const { kube, of } = this.#scene;
    const all = kube.all('EtcdRequest') as unknown as EtcdRequest[];
    return all.find(({ metadata }) => metadata.name === `${of.name}-${name}`)?.status?.phase;
  }
}

/** An approval that no operation here uses. */
export const APPROVAL = {
  operation: 'removeMember',
  ids: ['8e9e05c5'],
  by: 'ana',
  reason: 'it is lost',
  expiresInSeconds: 86_400,
};

export function expectApproval(answer: { readonly approvals?: readonly object[] | undefined }): void {
  const { expiresInSeconds: _, ...approval } = APPROVAL;
  expect(answer.approvals).toMatchObject([approval]);
}
