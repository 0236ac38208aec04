import type { PlannedStep, SharedObject, Step } from './decision.ts';

/** One line for people: what the step does, to what. Shown in the Temporal UI, in status and in events. */
export function stepSummary(step: Step): string {
  if (isPodStep(step)) return podSummary(step);
  switch (step.kind) {
    case 'recordIncarnation':
      return `record incarnation ${step.incarnation.token} with ${list(step.incarnation.members.map(member => member.name))}`;
    case 'bootstrapMembers':
      return `create services, claims and pods of ${list(step.members)}`;
    case 'awaitQuorum':
      return `wait until ${list(step.members)} elect a leader`;
    case 'recordClusterId':
      return `record cluster id ${step.clusterId}`;
    case 'sealMembers':
      return `seal ${list(step.members.map(member => member.name))}: never to start on an empty volume`;
    case 'issueCertificates':
      return `issue certificates ${list(step.secrets)}`;
    case 'requestCertificates':
      return `ask cert-manager for ${list(step.certificates)}`;
    case 'ensureObjects':
      return `create ${list(step.objects.map(readable))}`;
    case 'awaitMembers':
      return `wait until ${list(step.members)} are ready`;
    case 'restartMember':
      return `start ${step.member} again on its volume${step.version === undefined ? '' : ` with etcd ${step.version}`}`;
    case 'addLearner':
      return `add ${step.member} as a learner`;
    case 'createMember':
      return `create claim and pod of ${step.member}`;
    case 'promoteLearner':
      return `wait until ${step.member} (${step.id}) has caught up, then promote it`;
    case 'removeMember':
      return `remove ${step.member} (${step.id}): ${step.reason}`;
    case 'retireMember':
      return `clear away what is left of ${step.member}`;
    case 'applyObjects':
      return `put back ${step.objects.map(({ object, because }) => `${readable(object)} (${because})`).join(', ')}`;
    case 'moveLeader':
      return `hand leadership from ${step.from} to ${step.to}`;
    case 'awaitQuiet':
      return `wait before ${step.before === undefined ? 'the upgrade ends' : `${step.before} is touched`}: ${step.because}`;
    case 'stopMember':
      return `stop ${step.member}: ${step.because}`;
    case 'compareKeys':
    case 'replaceImage':
    case 'requestBackup':
    case 'awaitBackup':
    case 'awaitVersion':
    case 'awaitAgreement':
      return upgradeSummary(step);
    case 'expandClaim':
    case 'labelClaim':
    case 'releaseClaims':
      return claimSummary(step);
    case 'stampResource':
      return `put ${list(step.lacking)} back on the EtcdCluster`;
    case 'removeFinalizer':
      return 'let the resource go';
    default:
      return restoreSummary(step);
  }
}

type PodStep = Extract<Step, { kind: 'admitMembers' | 'labelPods' | 'deletePods' | 'forceDeletePods' }>;

function isPodStep(step: Step): step is PodStep {
  return ['admitMembers', 'labelPods', 'deletePods', 'forceDeletePods'].includes(step.kind);
}

function podSummary(step: PodStep): string {
  const pods = list(step.pods.map(pod => pod.name));
  switch (step.kind) {
    case 'admitMembers':
      return `lead clients to ${pods}`;
    case 'labelPods':
      return `put labels back on ${pods}`;
    case 'deletePods':
      return `delete pods ${pods} and wait until they are gone`;
    case 'forceDeletePods':
      return `take away ${pods} without their nodes: ${step.because}`;
  }
}

function claimSummary(step: Extract<Step, { kind: 'expandClaim' | 'labelClaim' | 'releaseClaims' }>): string {
  switch (step.kind) {
    case 'expandClaim':
      return `enlarge claim ${step.claim} from ${step.from} to ${step.size}`;
    case 'labelClaim':
      return labelSummary(step);
    case 'releaseClaims':
      return `delete claims ${list(step.claims.map(claim => claim.name))}`;
  }
}

function labelSummary({ claim, labels, annotations }: Extract<Step, { kind: 'labelClaim' }>): string {
  const [put, taken] = [false, true].map(isTaken =>
    Object.entries({ ...labels, ...annotations }).flatMap(([key, value]) =>
      (value === null) === isTaken ? [key] : [],
    ),
  );
  const said = [
    ...(put === undefined || put.length === 0 ? [] : [`put ${list(put)} on`]),
    ...(taken === undefined || taken.length === 0 ? [] : [`take ${list(taken)} off`]),
  ];
  return `${said.join(' and ')} claim ${claim}`;
}

type UpgradeStep = Extract<
  Step,
  {
    kind:
      | 'compareKeys'
      | 'replaceImage'
      | 'requestBackup'
      | 'awaitBackup'
      | 'awaitVersion'
      | 'awaitAgreement';
  }
>;

function upgradeSummary(step: UpgradeStep): string {
  switch (step.kind) {
    case 'compareKeys':
      return `compare the keys of ${list(step.members.map(({ name }) => name))}: each reads all it has up to one revision (HashKV)`;
    case 'replaceImage':
      return `restart ${step.member} with etcd ${step.version}: ${step.because}`;
    case 'requestBackup':
      return `ask EtcdBackup ${step.backup} for a backup before ${step.because}`;
    case 'awaitBackup':
      return `wait until EtcdBackup ${step.backup} has made the backup`;
    case 'awaitVersion':
      return `wait until ${step.member} is ready and runs ${step.version}`;
    case 'awaitAgreement':
      return `wait until cluster and data have arrived in ${step.minor}`;
  }
}

type RestoreStep = Extract<
  Step,
  {
    kind:
      | 'fenceMembers'
      | 'switchIncarnation'
      | 'fillVolume'
      | 'unpackBackup'
      | 'startSeed'
      | 'disarmAlarms'
      | 'requestRestore'
      | 'concludeRestore'
      | 'abandonRestore'
      | 'revertRestore';
  }
>;

function restoreSummary(step: RestoreStep): string {
  switch (step.kind) {
    case 'fenceMembers':
      return `close the client Service and stop ${list(step.pods.map(pod => pod.name)) || 'nobody'}`;
    case 'switchIncarnation':
      return `record incarnation ${step.incarnation.token}, and keep ${list(step.keep.map(({ name }) => name)) || 'no claims'}`;
    case 'fillVolume':
      return `bring the backup onto the volume of ${step.member}`;
    case 'unpackBackup':
      return `make the database of ${step.member} of it`;
    case 'disarmAlarms':
      return `take back ${list(step.alarms.map(({ alarm, memberId }) => `${alarm} of ${memberId}`))}`;
    case 'startSeed':
      return `start ${step.member} alone on the restored data`;
    case 'requestRestore':
      return `restore the backup of ${step.time} that EtcdBackup ${step.backup} made, by EtcdRestore ${step.name}`;
    case 'concludeRestore':
      return `record that EtcdRestore ${step.restore.name} is done`;
    case 'abandonRestore':
      return `record that EtcdRestore ${step.restore.name} is given up: ${step.because}`;
    case 'revertRestore':
      return `bring back what was before EtcdRestore ${step.restore.name}`;
  }
}

/** A step as an entry of a plan. */
export function planned(step: Step): PlannedStep {
  return { kind: step.kind, summary: stepSummary(step) };
}

function list(names: readonly string[]): string {
  return names.join(', ');
}

const READABLE: Record<SharedObject, string> = {
  peerService: 'the peer Service',
  clientService: 'the client Service',
  disruptionBudget: 'the PodDisruptionBudget',
};

function readable(object: SharedObject): string {
  return READABLE[object];
}
