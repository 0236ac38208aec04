/** Scenes about certificates: see scenes.ts. */
import type { KubeObject, WritableObject } from '../../src/kube/port.ts';
import { Breach } from './invariants.ts';
import { NAMESPACE } from './sim-kube.ts';
import { breakCertificate, putCertificates, STATIC_TLS } from './sim-tls.ts';
import type { Stage } from './stage.ts';

const CERTIFICATE_MANAGER = { certManager: { issuerRef: { name: 'issuer', kind: 'Issuer' } } } as const;

/** Real time, which keys take, passes beside the world's. */
async function real(stage: Stage, what: string, is: () => boolean): Promise<void> {
  for (let look = 0; look < 400 && !is(); look += 1) {
    await stage.pass(10);
    await new Promise(resolve => setTimeout(resolve, 5));
  }
  await stage.until(what, is);
}

/** The reason that status gives for how the certificates are. */
function conditionOf(stage: Stage): string | undefined {
  return stage.conditions().find(({ type }) => type === 'TLSReady')?.reason;
}

export const tlsScenes = {
  async certificatesAreBad(stage: Stage) {
    stage.remake({ tls: STATIC_TLS });
    await stage.create({ size: 3 });
    const { world } = stage;
    world.edit({ size: 4 });
    const bad = [
      ['gone', 'SecretMissing'],
      ['lacking', 'KeyMissing'],
      ['malformed', 'Malformed'],
      ['mismatched', 'KeyMismatch'],
      ['expired', 'Expired'],
      ['early', 'NotYetValid'],
    ] as const;
    world.operator.paused = { by: 'somebody' };
    for (const [kind, reason] of bad) {
      breakCertificate(world, 'peer', kind);
      world.wake();
      await stage.until(`it is said: ${reason}`, () => conditionOf(stage) === reason);
      putCertificates(world);
    }
    breakCertificate(world, 'server', 'untrusted');
    world.wake();
    await stage.until('it is not trusted', () => conditionOf(stage) === 'NotTrusted');
    breakCertificate(world, 'server', 'gone');
    world.operator.paused = undefined;
    await stage.blockedBy('SecretMissing');
    putCertificates(world, 'ending');
    await stage.rest();
    world.edit({ etcd: { snapshotCount: 7_000 } });
    await stage.until('it ends soon', () => conditionOf(stage) === 'ExpiresSoon');
    breakCertificate(world, 'peer', 'gone');
    await stage.blockedBy('SecretMissing');
    putCertificates(world);
    await stage.rest();
  },

  /** At once it stops everything; authority by authority, with every member restarted in between, it goes. */
  async authorityIsExchanged(stage: Stage) {
    stage.remake({ tls: STATIC_TLS });
    await stage.create({ size: 3 });
    const { world } = stage;
    const uids = () => world.kube.all('Pod').map(({ metadata }) => metadata.uid);
    const put = (which: Parameters<typeof putCertificates>[1]) => {
      putCertificates(world, which);
      world.wake();
    };
    const first = uids();
    put('untrusted');
    await stage.blockedBy('AuthorityExchanged');
    await stage.pass(200);
    put('moved');
    await stage.blockedBy('AuthorityExchanged');
    if (uids().some(uid => !first.includes(uid))) throw new Breach('a member was restarted among strangers');
    put('bundled');
    await stage.until('it is brought', () => conditionOf(stage) === 'AuthorityRollingOut');
    await stage.until('all have read both', () => uids().every(uid => !first.includes(uid)));
    await stage.rest();
    put('moved');
    await stage.rest();
    put('untrusted');
    await stage.until('the former one is taken out', () => conditionOf(stage) === 'AuthorityRollingOut');
    await stage.until('all is said', () => conditionOf(stage) === 'Ready');
    await stage.rest();
  },

  async tlsIsSwitched(stage: Stage) {
    await stage.create({ size: 1 });
    stage.world.edit({ TLS: { auto: {} } });
    await stage.blockedBy('ModeSwitched');
    stage.world.kube.merge('EtcdCluster', 'example', { spec: { TLS: null } });
    stage.world.wake();
    await stage.rest();
  },

  /** How members talk is known although the status is lost. */
  async tlsIsSwitchedAndTheStatusLost(stage: Stage) {
    await stage.create({ size: 1 });
    const { world } = stage;
    world.edit({ TLS: { auto: {} } });
    stage.loseStatus();
    world.invariants.forgot = true;
    world.wake();
    await stage.blockedBy('ModeSwitched');
    await stage.pass(200);
    world.kube.merge('EtcdCluster', 'example', { spec: { TLS: null } });
    world.wake();
    await stage.rest();
  },

  async certificatesAreMade(stage: Stage) {
    stage.remake({ tls: { auto: {} } });
    const { world } = stage;
    const stray = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'example-peer-tls', namespace: NAMESPACE },
    };
    world.kube.create(stray as WritableObject);
    world.edit({ size: 1, storage: { retain: 'Delete' } });
    world.begin();
    await stage.blockedBy('NameTaken');
    world.kube.delete('Secret', 'example-peer-tls');
    world.wake();
    const isUp = () => world.decision.kind === 'idle' && stage.voters().length === 1;
    await real(stage, 'it is created', isUp);
    world.kube.delete('Secret', 'example-server-tls');
    world.wake();
    const exists = () => world.kube.peek('Secret', 'example-server-tls') !== undefined;
    await real(stage, 'the certificate is made anew', exists);
    const authority = () => world.kube.peek('Secret', 'example-peer-ca');
    const own = authority();
    const other = world.kube.peek('Secret', 'example-client-ca');
    if (own === undefined || other === undefined) throw new Error('there are no authorities');
    const issued = () => JSON.stringify(world.kube.peek('Secret', 'example-peer-tls')?.['data']);
    const before = issued();
    world.kube.change(own, { data: other['data'] });
    world.wake();
    await real(stage, 'it is another one', () => conditionOf(stage) === 'AuthorityExchanged');
    if (issued() !== before) throw new Breach('it was signed with another authority');
    world.kube.change(authority() ?? own, { data: own['data'] });
    world.wake();
    await real(stage, 'it is the one again', () => conditionOf(stage) === 'Ready');
    stage.skip(9.5 * 365 * 86_400);
    await real(stage, 'the authorities end', () => conditionOf(stage) === 'ExpiresSoon');
    world.kube.delete('Secret', 'example-peer-ca');
    world.wake();
    await real(stage, 'the authority is missed', () => conditionOf(stage) === 'AuthorityLost');
  },

  async certificatesAreAskedFor(stage: Stage) {
    stage.remake({ tls: CERTIFICATE_MANAGER as never });
    const { world } = stage;
    world.kube.isServed.delete('Certificate');
    world.edit({ size: 1, storage: { retain: 'Delete' } });
    world.begin();
    await stage.blockedBy('CertManagerMissing');
    world.kube.isServed.add('Certificate');
    world.wake();
    await stage.blockedBy('Issuing');
    const condition = { type: 'Ready', status: 'False', message: 'the issuer is asleep' };
    for (const each of world.kube.all('Certificate')) say(stage, each, condition);
    await stage.pass(200);
    for (const each of world.kube.all('Certificate')) say(stage, each, { ...condition, status: 'True' });
    await stage.pass(200);
    const metadata = {
      name: 'example-peer-tls',
      namespace: NAMESPACE,
      annotations: { 'cert-manager.io/certificate-name': 'example-peer-tls' },
    };
    world.kube.create({ apiVersion: 'v1', kind: 'Secret', metadata } as WritableObject);
    world.wake();
    await stage.pass(200);
    const [found] = world.kube.all('Certificate');
    if (found !== undefined) world.kube.change(found, { spec: {} });
    world.wake();
    await stage.pass(300);
  },
};

function say({ world }: Stage, object: KubeObject, condition: object): void {
  world.kube.change(object, { status: { conditions: [condition] } });
  world.wake();
}
