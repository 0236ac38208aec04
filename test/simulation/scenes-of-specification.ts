/** Scenes about what is asked for, and what is found in its place: see scenes.ts. */
import {
  ANNOTATION_MADE_FROM,
  ANNOTATION_RENDERED,
  ANNOTATION_VERSION,
  CLIENTS_WITHDRAWN,
  LABEL_CLIENTS,
} from '../../src/api/names.ts';
import { nodeOf } from './sim-nodes.ts';
import type { Stage } from './stage.ts';

export const specificationScenes = {
  async everyVolumeIsLost(stage: Stage) {
    await stage.create({ size: 3 });
    for (const { name } of stage.voters()) {
      stage.takePod(name);
      stage.takeClaim(name);
    }
    await stage.blockedBy('AllVolumesLost');
    stage.world.edit({ recovery: { totalLoss: 'RestoreLatestBackup' } });
    await stage.pass(300);
  },

  async mostVolumesAreLost(stage: Stage) {
    await stage.create({ size: 3 });
    for (const { name } of stage.voters().slice(1)) {
      stage.takePod(name);
      stage.takeClaim(name);
    }
    await stage.blockedBy('MemberLost');
    await stage.pass(200);
  },

  /** Somebody else holds the resource: nothing of ours is left to do. */
  async deletionIsHeldBySomebodyElse(stage: Stage) {
    await stage.create({ size: 1 });
    const { kube, resource, operator } = stage.world;
    if (resource === undefined) return;
    const metadata = { ...resource.metadata, finalizers: ['example.com/other'] };
    kube.change(resource, { metadata });
    kube.delete('EtcdCluster', 'example');
    await stage.until('it is let go', () => operator.gone);
  },

  async sleepIsHeldUp(stage: Stage) {
    await stage.create({ size: 3 });
    const { world } = stage;
    const { nodes } = world.kubelet;
    const node = nodeOf(stage.pod('example-0')) ?? '';
    nodes.down.add(node);
    world.edit({ hibernated: true });
    await stage.blockedBy('PodTerminating');
    stage.takeName('Service', 'example-client');
    await stage.blockedBy('NameTaken');
    world.kube.delete('Service', 'example-client');
    nodes.down.clear();
    await stage.until('it sleeps', () => world.kube.all('Pod').length === 0);
    await stage.pass(200);
    stage.takeName('Service', 'example-client');
    world.edit({ hibernated: false });
    await stage.blockedBy('NameTaken');
    world.kube.delete('Service', 'example-client');
    world.wake();
    await stage.rest();
  },

  async sleeperLosesAVolume(stage: Stage) {
    await stage.create({ size: 3 });
    const { world } = stage;
    world.edit({ hibernated: true });
    await stage.until(
      'it sleeps',
      () => world.kube.all('Pod').length === 0 && world.decision.kind === 'idle',
    );
    await stage.pass(200);
    stage.takeClaim('example-1');
    world.edit({ hibernated: false });
    await stage.until('it is replaced', () => stage.voters().some(({ name }) => name === 'example-3'));
    await stage.rest();
  },

  /** A raised quota is the cure of the alarm; any other change waits for it. */
  async quotaIsRaisedWhileThereIsNoSpace(stage: Stage) {
    await stage.create({ size: 3 });
    stage.world.edit({ etcd: { snapshotCount: 7_000 } });
    await stage.about('stopMember');
    stage.world.etcd.set(stage.follower(), { alarm: 'NOSPACE' });
    await stage.blockedBy('MembersUnhealthy');
    stage.world.edit({ etcd: { quotaBackendBytes: 4_294_967_296 } });
    await stage.pass(1_500);
    for (const process of stage.world.etcd.processes.values())
      stage.world.etcd.set(process, { alarm: undefined });
    await stage.rest();
  },

  async databaseIsNearlyFull(stage: Stage) {
    await stage.create({ size: 3 });
    for (const { disk } of stage.world.etcd.processes.values()) disk.bytes = 2_000_000_000;
    stage.world.edit({ etcd: { snapshotCount: 7_000 } });
    await stage.blockedBy('DatabaseNearlyFull');
    stage.world.edit({ pod: { etcdEnv: [{ name: 'ETCD_QUOTA_BACKEND_BYTES', value: '8589934592' }] } });
    await stage.rest();
  },

  async membersHoldDifferentKeys(stage: Stage) {
    await stage.create({ size: 3 });
    const { disk } = stage.follower();
    disk.rottenSince = stage.world.ticks;
    stage.world.edit({ etcd: { snapshotCount: 7_000 } });
    await stage.blockedBy('DataDiffers');
    await stage.pass(300);
    disk.rottenSince = undefined;
    await stage.rest();
  },

  async rolloutMeetsTrouble(stage: Stage) {
    await stage.create({ size: 3 });
    const { world } = stage;
    const { name } = stage.follower();
    world.edit({
      etcd: { snapshotCount: 7_000, heartbeatIntervalMs: 200 },
      pod: { labels: { team: 'a' } },
    });
    world.kubelet.stuck.add(name);
    await stage.until('its pod is gone', () => world.kube.peek('Pod', name) === undefined);
    await stage.pass(300);
    stage.takeName('Service', 'example-client');
    await stage.pass(300);
    world.kube.delete('Service', 'example-client');
    world.kubelet.stuck.clear();
    await stage.rest();
  },

  /** The last member that a rollout restarted comes up late, or not before somebody looks after it. */
  async rolloutEndsBadly(stage: Stage) {
    await stage.create({ size: 1 });
    const { world } = stage;
    const { nodes } = world.kubelet;
    world.edit({ etcd: { snapshotCount: 7_000 } });
    await stage.about('stopMember');
    nodes.down.add(nodeOf(stage.pod('example-0')) ?? '');
    await stage.blockedBy('PodTerminating');
    nodes.down.clear();
    world.kubelet.stuck.add('example-0');
    await stage.blockedBy('RolloutHalted');
    world.kubelet.stuck.clear();
    await stage.rest();
  },

  async volumeIsLostInARollout(stage: Stage) {
    await stage.create({ size: 3 });
    stage.world.edit({ etcd: { snapshotCount: 7_000 } });
    await stage.until('one is stopped', () => stage.world.kube.all('Pod').length === 2);
    const names = stage.world.kube.all('Pod').map(({ metadata }) => metadata.name);
    const gone = stage.voters().find(({ name }) => !names.includes(name))?.name ?? '';
    for (const attempt of stage.world.calls.attempts) stage.world.calls.kill(attempt);
    stage.takeClaim(gone);
    await stage.until('it is replaced', () => stage.voters().every(({ name }) => name !== gone));
    await stage.rest();
  },

  /** Somebody shuts clients out from a member. */
  async clientsAreShutOut(stage: Stage) {
    await stage.create({ size: 3 });
    const pod = stage.pod('example-1');
    const labels = { ...pod.metadata.labels, [LABEL_CLIENTS]: CLIENTS_WITHDRAWN };
    stage.world.kube.change(pod, { metadata: { ...pod.metadata, labels } });
    await stage.pass(300);
    await stage.rest();
  },

  async rolloutEndsInSilence(stage: Stage) {
    await stage.create({ size: 1 });
    const { world } = stage;
    world.edit({ etcd: { snapshotCount: 7_000 } });
    await stage.about('restartMember');
    await stage.until('it is started', () => world.etcd.processes.size > 0);
    const [started] = [...world.etcd.processes.values()];
    if (started !== undefined) world.etcd.set(started, { frozen: true });
    stage.skip(400);
    await stage.blockedBy('RolloutHalted');
    if (started !== undefined) world.etcd.set(started, { frozen: false });
    await stage.rest();
  },

  /** Pods that another release made, one of which may start on an empty volume. */
  async podsAreOfAnEarlierRelease(stage: Stage) {
    await stage.create({ size: 3 });
    const { kube } = stage.world;
    const notes: readonly Readonly<Record<string, string>>[] = [
      { [ANNOTATION_RENDERED]: '{"image":"00000000","more":"11111111","args":"2222"}' },
      { [ANNOTATION_RENDERED]: '{}', [ANNOTATION_MADE_FROM]: '{"size":"nonsense"}' },
      {
        [ANNOTATION_RENDERED]: '{"more":"1"}',
        [ANNOTATION_MADE_FROM]: '{"spec":{"pod":{"tolerations":{"a":1}}}}',
      },
    ];
    for (const [serial, note] of notes.entries()) {
      const pod = stage.pod(`example-${serial}`);
      kube.change(pod, {
        metadata: { ...pod.metadata, annotations: { ...pod.metadata.annotations, ...note } },
      });
    }
    const unlabelled = stage.pod('example-1');
    const { [ANNOTATION_VERSION]: _, ...others } = unlabelled.metadata.annotations ?? {};
    kube.change(unlabelled, { metadata: { ...unlabelled.metadata, annotations: others } });
    await stage.pass(600);
    const pod = stage.pod('example-0');
    const { containers, ...spec } = pod['spec'] as {
      containers: readonly { readonly args: readonly string[] }[];
    };
    const fixed = containers.map(({ args, ...container }) => ({
      ...container,
      args: args.map(text => text.replace(/\$\(.*\)/, 'new')),
    }));
    kube.change(pod, { spec: { ...spec, containers: fixed } });
    await stage.until('it is said', () =>
      stage.conditions().some(({ reason }) => reason === 'MayStartEmpty'),
    );
  },

  /** Claims are labelled as the template says, and grow as far as their class lets them. */
  async templateChanges(stage: Stage) {
    await stage.create({ size: 3 });
    const { world } = stage;
    const template = (storage: string) => ({
      volumeClaimTemplate: {
        metadata: { labels: { tier: 'a' } },
        spec: { resources: { requests: { storage } } },
      },
    });
    world.edit({ storage: template('2Gi') });
    await stage.rest();
    const [storageClass] = world.kube.all('StorageClass');
    if (storageClass !== undefined) world.kube.change(storageClass, { allowVolumeExpansion: false });
    world.edit({ storage: template('3Gi') });
    await stage.pass(300);
    const [now] = world.kube.all('StorageClass');
    if (now !== undefined) world.kube.change(now, { allowVolumeExpansion: true });
    world.kubelet.volumesAreStuck = true;
    await stage.pass(600);
    world.kubelet.volumesAreStuck = false;
    await stage.rest();
  },

  /** The leader is the one that goes: it hands over first. */
  async theLeaderIsReplaced(stage: Stage) {
    await stage.create({ size: 3 });
    await stage.ask('replaceMember', stage.leader().name);
    await stage.answered();
    await stage.rest();
  },
};
