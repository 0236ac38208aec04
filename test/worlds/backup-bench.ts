/** An EtcdBackup's real workflows and activities on a real Temporal server, over a world in memory that follows real time. */
import type { WorkflowHandle } from '@temporalio/client';
import type { WorkerOptions } from '@temporalio/worker';
import { type Activities, createActivities, type Dependencies } from '../../src/activities/index.ts';
import type { EtcdBackupSpec } from '../../src/api/schemas/types.ts';
import { BackupWorld, SPEC } from './backup-world.ts';
import { mortal } from './mortal-activities.ts';
import { until, type WorkflowBench } from './workflow-bench.ts';

export class BackupEntity {
  readonly world: BackupWorld;
  readonly handle: WorkflowHandle;
  readonly operation: WorkflowHandle;
  readonly #bench: WorkflowBench;
  /** The id of its workflow. */
  readonly id: string;
  readonly taskQueue: string;

  private constructor(bench: WorkflowBench, world: BackupWorld, taskQueue?: string) {
    const { namespace, name, uid } = world.ref;
    this.#bench = bench;
    this.world = world;
    this.id = `etcdbackup/${namespace}/${name}/${uid.slice(0, 8)}`;
    this.taskQueue = taskQueue ?? `queue-${this.id}`;
    this.handle = bench.client.workflow.getHandle(this.id);
    this.operation = bench.client.workflow.getHandle(`${this.id}/operation`);
  }

  /** The world and a worker for it; nothing is started yet. */
  static async on(
    bench: WorkflowBench,
    spec: Partial<EtcdBackupSpec> = {},
    options: Partial<WorkerOptions> = {},
  ): Promise<BackupEntity> {
    const entity = new BackupEntity(bench, worldOn(bench, spec));
    await bench.serve(entity, entity.activities(), options);
    return entity;
  }

  /** As `on`, with activities whose process the world can kill. @param died called with each attempt that is lost by it @param wrap the activities that a worker gets */
  static async mortalOn(
    bench: WorkflowBench,
    spec: Partial<EtcdBackupSpec>,
    died: () => void,
    wrap = (activities: Activities): Activities => activities,
  ): Promise<BackupEntity> {
    const entity = new BackupEntity(bench, worldOn(bench, spec));
    const { world } = entity;
    const inRealTime: Parameters<typeof mortal>[0] = {
      deps: world.deps,
      act: call => {
        world.now = Date.now();
        return world.act(call);
      },
      reboot: () => world.reboot(),
    };
    await bench.serve(entity, wrap(mortal(inRealTime, died)));
    return entity;
  }

  /** A world without a worker: that of the task queue has to know its activities. */
  static among(bench: WorkflowBench, taskQueue: string, spec: Partial<EtcdBackupSpec> = {}): BackupEntity {
    return new BackupEntity(bench, worldOn(bench, spec), taskQueue);
  }

  /** What is done in its world. */
  activities(deps: Partial<Dependencies> = {}): Activities {
    return createActivities({ ...this.world.deps, now: () => Date.now(), ...deps });
  }

  /** What the watcher does. */
  async changed(): Promise<void> {
    await this.#bench.client.workflow.signalWithStart('etcdBackup', {
      workflowId: this.id,
      taskQueue: this.taskQueue,
      args: [this.world.ref],
      signal: 'changed',
      signalArgs: [{}],
    });
  }

  /** The present run alone: later ones have the same id. */
  async run(of: WorkflowHandle = this.handle): Promise<WorkflowHandle> {
    return this.#bench.client.workflow.getHandle(of.workflowId, (await of.describe()).runId);
  }

  /** Waits until the resource's last run has this outcome. */
  async came(outcome: string): Promise<void> {
    await until(() => this.world.status.lastRun?.outcome === outcome);
    await this.quiet();
  }

  /** Waits until nothing is under way. */
  async quiet(): Promise<void> {
    await until(async () => {
      const { raw } = await this.handle.describe();
      const busy = (raw.pendingActivities ?? []).length > 0 || (raw.pendingChildren ?? []).length > 0;
      return !busy && (raw.pendingWorkflowTask ?? null) === null;
    });
  }
}

/** All are of one name: the uid, of which ids of workflows have the beginning, distinguishes them. */
function worldOn(bench: WorkflowBench, spec: Partial<EtcdBackupSpec>): BackupWorld {
  const first = `${process.pid.toString(16).padStart(6, '0')}${bench.next().toString(16).padStart(2, '0')}`;
  return new BackupWorld({ ...SPEC, ...spec }, `${first}-uid`);
}
