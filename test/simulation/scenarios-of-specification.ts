/** Scenarios about what is asked for, and what is found in its place: see scenarios.ts. */
import {
  ANNOTATION_MADE_FROM,
  ANNOTATION_RENDERED,
  ANNOTATION_VERSION,
  CLIENTS_WITHDRAWN,
  LABEL_CLIENTS,
} from '../../src/api/names.ts';
import { nodeOf } from './sim-nodes.ts';
import type { ScriptedWorld } from './scripted-world.ts';

export const specificationScenarios = {
  async everyVolumeIsLost(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    for (const { name } of scripted.voters()) {
      scripted.takePod(name);
      scripted.takeClaim(name);
    }
    await scripted.blockedBy('AllVolumesLost');
    scripted.world.edit({ recovery: { totalLoss: 'RestoreLatestBackup' } });
    await scripted.pass(300);
  },

  async mostVolumesAreLost(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    for (const { name } of scripted.voters().slice(1)) {
      scripted.takePod(name);
      scripted.takeClaim(name);
    }
    await scripted.blockedBy('QuorumLostForGood');
    await scripted.pass(200);
  },

  /** Somebody else holds the resource: nothing of ours is left to do. */
  async deletionIsHeldBySomebodyElse(scripted: ScriptedWorld) {
    await scripted.create({ size: 1 });
    const { kube, resource, operator } = scripted.world;
    if (resource === undefined) return;
    const metadata = { ...resource.metadata, finalizers: ['example.com/other'] };
    kube.change(resource, { metadata });
    kube.delete('EtcdCluster', 'example');
    await scripted.until('it is let go', () => operator.gone);
  },

  async sleepIsHeldUp(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const { world } = scripted;
    const { nodes } = world.kubelet;
    const node = nodeOf(scripted.pod('example-0')) ?? '';
    nodes.down.add(node);
    world.edit({ hibernated: true });
    await scripted.blockedBy('PodTerminating');
    scripted.takeName('Service', 'example-client');
    await scripted.blockedBy('NameTaken');
    world.kube.delete('Service', 'example-client');
    nodes.down.clear();
    await scripted.until('it sleeps', () => world.kube.all('Pod').length === 0);
    await scripted.pass(200);
    scripted.takeName('Service', 'example-client');
    world.edit({ hibernated: false });
    await scripted.blockedBy('NameTaken');
    world.kube.delete('Service', 'example-client');
    world.wake();
    await scripted.rest();
  },

  async sleeperLosesAVolume(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const { world } = scripted;
    world.edit({ hibernated: true });
    await scripted.until(
      'it sleeps',
      () => world.kube.all('Pod').length === 0 && world.decision.kind === 'idle',
    );
    await scripted.pass(200);
    scripted.takeClaim('example-1');
    world.edit({ hibernated: false });
    await scripted.until('it is replaced', () => scripted.voters().some(({ name }) => name === 'example-3'));
    await scripted.rest();
  },

  /** A raised quota is the cure of the alarm; any other change waits for it. */
  async quotaIsRaisedWhileThereIsNoSpace(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    scripted.world.edit({ etcd: { snapshotCount: 7_000 } });
    await scripted.about('stopMember');
    scripted.world.etcd.set(scripted.follower(), { alarm: 'NOSPACE' });
    await scripted.blockedBy('MembersUnhealthy');
    scripted.world.edit({ etcd: { quotaBackendBytes: 4_294_967_296 } });
    await scripted.pass(1_500);
    for (const process of scripted.world.etcd.processes.values())
      scripted.world.etcd.set(process, { alarm: undefined });
    await scripted.rest();
  },

  async databaseIsNearlyFull(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    for (const { disk } of scripted.world.etcd.processes.values()) disk.bytes = 2_000_000_000;
    scripted.world.edit({ etcd: { snapshotCount: 7_000 } });
    await scripted.blockedBy('DatabaseNearlyFull');
    scripted.world.edit({ pod: { etcdEnv: [{ name: 'ETCD_QUOTA_BACKEND_BYTES', value: '8589934592' }] } });
    await scripted.rest();
  },

  async membersHoldDifferentKeys(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const { disk } = scripted.follower();
    disk.rottenSince = scripted.world.ticks;
    scripted.world.edit({ etcd: { snapshotCount: 7_000 } });
    await scripted.blockedBy('CorruptMember');
    await scripted.pass(300);
    disk.rottenSince = undefined;
    scripted.skip(3_601);
    await scripted.rest();
  },

  async rolloutMeetsTrouble(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const { world } = scripted;
    const { name } = scripted.follower();
    world.edit({
      etcd: { snapshotCount: 7_000, heartbeatIntervalMs: 200 },
      pod: { labels: { team: 'a' } },
    });
    world.kubelet.stuck.add(name);
    await scripted.until('its pod is gone', () => world.kube.peek('Pod', name) === undefined);
    await scripted.pass(300);
    scripted.takeName('Service', 'example-client');
    await scripted.pass(300);
    world.kube.delete('Service', 'example-client');
    world.kubelet.stuck.clear();
    await scripted.rest();
  },

  /** The last member that a rollout restarted comes up late, or not before somebody looks after it. */
  async rolloutEndsBadly(scripted: ScriptedWorld) {
    await scripted.create({ size: 1 });
    const { world } = scripted;
    const { nodes } = world.kubelet;
    world.edit({ etcd: { snapshotCount: 7_000 } });
    await scripted.about('stopMember');
    nodes.down.add(nodeOf(scripted.pod('example-0')) ?? '');
    await scripted.blockedBy('PodTerminating');
    nodes.down.clear();
    world.kubelet.stuck.add('example-0');
    await scripted.blockedBy('RolloutHalted');
    world.kubelet.stuck.clear();
    await scripted.rest();
  },

  async volumeIsLostInARollout(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    scripted.world.edit({ etcd: { snapshotCount: 7_000 } });
    await scripted.until('one is stopped', () => scripted.world.kube.all('Pod').length === 2);
    const names = scripted.world.kube.all('Pod').map(({ metadata }) => metadata.name);
    const gone = scripted.voters().find(({ name }) => !names.includes(name))?.name ?? '';
    for (const attempt of scripted.world.calls.attempts) scripted.world.calls.kill(attempt);
    scripted.takeClaim(gone);
    await scripted.until('it is replaced', () => scripted.voters().every(({ name }) => name !== gone));
    await scripted.rest();
  },

  /** Somebody shuts clients out from a member. */
  async clientsAreShutOut(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const pod = scripted.pod('example-1');
    const labels = { ...pod.metadata.labels, [LABEL_CLIENTS]: CLIENTS_WITHDRAWN };
    scripted.world.kube.change(pod, { metadata: { ...pod.metadata, labels } });
    await scripted.pass(300);
    await scripted.rest();
  },

  async rolloutEndsInSilence(scripted: ScriptedWorld) {
    await scripted.create({ size: 1 });
    const { world } = scripted;
    world.edit({ etcd: { snapshotCount: 7_000 } });
    await scripted.about('restartMember');
    await scripted.until('it is started', () => world.etcd.processes.size > 0);
    const [started] = [...world.etcd.processes.values()];
    if (started !== undefined) world.etcd.set(started, { frozen: true });
    scripted.skip(400);
    await scripted.blockedBy('RolloutHalted');
    if (started !== undefined) world.etcd.set(started, { frozen: false });
    await scripted.rest();
  },

  /** Pods that another release made, one of which may start on an empty volume. */
  async podsAreOfAnEarlierRelease(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const { kube } = scripted.world;
    const notes: readonly Readonly<Record<string, string>>[] = [
      { [ANNOTATION_RENDERED]: '{"image":"00000000","more":"11111111","args":"2222"}' },
      { [ANNOTATION_RENDERED]: '{}', [ANNOTATION_MADE_FROM]: '{"size":"nonsense"}' },
      {
        [ANNOTATION_RENDERED]: '{"more":"1"}',
        [ANNOTATION_MADE_FROM]: '{"spec":{"pod":{"tolerations":{"a":1}}}}',
      },
    ];
    for (const [serial, note] of notes.entries()) {
      const pod = scripted.pod(`example-${serial}`);
      kube.change(pod, {
        metadata: { ...pod.metadata, annotations: { ...pod.metadata.annotations, ...note } },
      });
    }
    const unlabelled = scripted.pod('example-1');
    const { [ANNOTATION_VERSION]: _, ...others } = unlabelled.metadata.annotations ?? {};
    kube.change(unlabelled, { metadata: { ...unlabelled.metadata, annotations: others } });
    await scripted.pass(600);
    const pod = scripted.pod('example-0');
    const { containers, ...spec } = pod['spec'] as {
      containers: readonly { readonly args: readonly string[] }[];
    };
    const fixed = containers.map(({ args, ...container }) => ({
      ...container,
      args: args.map(text => text.replace(/\$\(.*\)/, 'new')),
    }));
    kube.change(pod, { spec: { ...spec, containers: fixed } });
    await scripted.until('it is said', () =>
      scripted.conditions().some(({ reason }) => reason === 'MayStartEmpty'),
    );
  },

  /** Claims are labelled as the template says, and grow as far as their class lets them. */
  async templateChanges(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    const { world } = scripted;
    const template = (storage: string) => ({
      volumeClaimTemplate: {
        metadata: { labels: { tier: 'a' } },
        spec: { resources: { requests: { storage } } },
      },
    });
    world.edit({ storage: template('2Gi') });
    await scripted.rest();
    const [storageClass] = world.kube.all('StorageClass');
    if (storageClass !== undefined) world.kube.change(storageClass, { allowVolumeExpansion: false });
    world.edit({ storage: template('3Gi') });
    await scripted.pass(300);
    const [now] = world.kube.all('StorageClass');
    if (now !== undefined) world.kube.change(now, { allowVolumeExpansion: true });
    world.kubelet.volumesAreStuck = true;
    await scripted.pass(600);
    world.kubelet.volumesAreStuck = false;
    await scripted.rest();
  },

  /** The leader is the one that goes: it hands over first. */
  async theLeaderIsReplaced(scripted: ScriptedWorld) {
    await scripted.create({ size: 3 });
    await scripted.ask('replaceMember', scripted.leader().name);
    await scripted.answered();
    await scripted.rest();
  },
};
