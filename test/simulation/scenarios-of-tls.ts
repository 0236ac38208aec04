/** Scenarios about certificates: see scenarios.ts. */
import type { KubeObject, WritableObject } from '../../src/kube/port.ts';
import { Breach } from './invariants.ts';
import { NAMESPACE } from './sim-kube.ts';
import { breakCertificate, putCertificates, STATIC_TLS } from './sim-tls.ts';
import type { ScriptedWorld } from './scripted-world.ts';

const CERTIFICATE_MANAGER = { certManager: { issuerRef: { name: 'issuer', kind: 'Issuer' } } } as const;

/** Real time, which keys take, passes beside the world's. */
async function real(scripted: ScriptedWorld, what: string, is: () => boolean): Promise<void> {
  for (let look = 0; look < 400 && !is(); look += 1) {
    await scripted.pass(10);
    await new Promise(resolve => setTimeout(resolve, 5));
  }
  await scripted.until(what, is);
}

/** The reason that status gives for how the certificates are. */
function conditionOf(scripted: ScriptedWorld): string | undefined {
  return scripted.conditions().find(({ type }) => type === 'TLSReady')?.reason;
}

export const tlsScenarios = {
  async certificatesAreBad(scripted: ScriptedWorld) {
    scripted.remake({ tls: STATIC_TLS });
    await scripted.create({ size: 3 });
    const { world } = scripted;
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
      await scripted.until(`it is said: ${reason}`, () => conditionOf(scripted) === reason);
      putCertificates(world);
    }
    breakCertificate(world, 'server', 'untrusted');
    world.wake();
    await scripted.until('it is not trusted', () => conditionOf(scripted) === 'NotTrusted');
    breakCertificate(world, 'server', 'gone');
    world.operator.paused = undefined;
    await scripted.blockedBy('SecretMissing');
    putCertificates(world, 'ending');
    await scripted.rest();
    world.edit({ etcd: { snapshotCount: 7_000 } });
    await scripted.until('it ends soon', () => conditionOf(scripted) === 'ExpiresSoon');
    breakCertificate(world, 'peer', 'gone');
    await scripted.blockedBy('SecretMissing');
    putCertificates(world);
    await scripted.rest();
  },

  /** At once it stops everything; authority by authority, with every member restarted in between, it goes. */
  async authorityIsExchanged(scripted: ScriptedWorld) {
    scripted.remake({ tls: STATIC_TLS });
    await scripted.create({ size: 3 });
    const { world } = scripted;
    const uids = () => world.kube.all('Pod').map(({ metadata }) => metadata.uid);
    const put = (which: Parameters<typeof putCertificates>[1]) => {
      putCertificates(world, which);
      world.wake();
    };
    const first = uids();
    put('untrusted');
    await scripted.blockedBy('AuthorityExchanged');
    await scripted.pass(200);
    put('moved');
    await scripted.blockedBy('AuthorityExchanged');
    if (uids().some(uid => !first.includes(uid))) throw new Breach('a member was restarted among strangers');
    put('bundled');
    await scripted.until('it is brought', () => conditionOf(scripted) === 'AuthorityRollingOut');
    await scripted.until('all have read both', () => uids().every(uid => !first.includes(uid)));
    await scripted.rest();
    put('moved');
    await scripted.rest();
    put('untrusted');
    await scripted.until(
      'the former one is taken out',
      () => conditionOf(scripted) === 'AuthorityRollingOut',
    );
    await scripted.until('all is said', () => conditionOf(scripted) === 'Ready');
    await scripted.rest();
  },

  async tlsIsSwitched(scripted: ScriptedWorld) {
    await scripted.create({ size: 1 });
    scripted.world.edit({ TLS: { auto: {} } });
    await scripted.blockedBy('ModeSwitched');
    scripted.world.kube.merge('EtcdCluster', 'example', { spec: { TLS: null } });
    scripted.world.wake();
    await scripted.rest();
  },

  /** How members talk is known although the status is lost. */
  async tlsIsSwitchedAndTheStatusLost(scripted: ScriptedWorld) {
    await scripted.create({ size: 1 });
    const { world } = scripted;
    world.edit({ TLS: { auto: {} } });
    scripted.loseStatus();
    world.invariants.forgot = true;
    world.wake();
    await scripted.blockedBy('ModeSwitched');
    await scripted.pass(200);
    world.kube.merge('EtcdCluster', 'example', { spec: { TLS: null } });
    world.wake();
    await scripted.rest();
  },

  async certificatesAreMade(scripted: ScriptedWorld) {
    scripted.remake({ tls: { auto: {} } });
    const { world } = scripted;
    const stray = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'example-peer-tls', namespace: NAMESPACE },
    };
    world.kube.create(stray as WritableObject);
    world.edit({ size: 1, storage: { retain: 'Delete' } });
    world.begin();
    await scripted.blockedBy('NameTaken');
    world.kube.delete('Secret', 'example-peer-tls');
    world.wake();
    const isUp = () => world.decision.kind === 'idle' && scripted.voters().length === 1;
    await real(scripted, 'it is created', isUp);
    world.kube.delete('Secret', 'example-server-tls');
    world.wake();
    const exists = () => world.kube.peek('Secret', 'example-server-tls') !== undefined;
    await real(scripted, 'the certificate is made anew', exists);
    const authority = () => world.kube.peek('Secret', 'example-peer-ca');
    const own = authority();
    const other = world.kube.peek('Secret', 'example-client-ca');
    if (own === undefined || other === undefined) throw new Error('there are no authorities');
    const issued = () => JSON.stringify(world.kube.peek('Secret', 'example-peer-tls')?.['data']);
    const before = issued();
    world.kube.change(own, { data: other['data'] });
    world.wake();
    await real(scripted, 'it is another one', () => conditionOf(scripted) === 'AuthorityExchanged');
    if (issued() !== before) throw new Breach('it was signed with another authority');
    world.kube.change(authority() ?? own, { data: own['data'] });
    world.wake();
    await real(scripted, 'it is the one again', () => conditionOf(scripted) === 'Ready');
    scripted.skip(9.5 * 365 * 86_400);
    await real(scripted, 'the authorities end', () => conditionOf(scripted) === 'ExpiresSoon');
    world.kube.delete('Secret', 'example-peer-ca');
    world.wake();
    await real(scripted, 'the authority is missed', () => conditionOf(scripted) === 'AuthorityLost');
    for (const secret of ['client-ca', 'peer-tls', 'server-tls', 'operator-tls'])
      world.kube.delete('Secret', `example-${secret}`);
    world.edit({ hibernated: true });
    await real(scripted, 'it sleeps', () => world.kube.all('Pod').length === 0);
    // In the very moment, before anything is issued.
    world.edit({ hibernated: false });
    await real(scripted, 'it has other authorities', () => conditionOf(scripted) === 'Ready');
    await real(scripted, 'it is awake', () => isUp());
  },

  async certificatesAreAskedFor(scripted: ScriptedWorld) {
    scripted.remake({ tls: CERTIFICATE_MANAGER as never });
    const { world } = scripted;
    world.kube.isServed.delete('Certificate');
    world.edit({ size: 1, storage: { retain: 'Delete' } });
    world.begin();
    await scripted.blockedBy('CertManagerMissing');
    world.kube.isServed.add('Certificate');
    world.wake();
    await scripted.blockedBy('Issuing');
    const condition = { type: 'Ready', status: 'False', message: 'the issuer is asleep' };
    for (const each of world.kube.all('Certificate')) say(scripted, each, condition);
    await scripted.pass(200);
    for (const each of world.kube.all('Certificate')) say(scripted, each, { ...condition, status: 'True' });
    await scripted.pass(200);
    const metadata = {
      name: 'example-peer-tls',
      namespace: NAMESPACE,
      annotations: { 'cert-manager.io/certificate-name': 'example-peer-tls' },
    };
    world.kube.create({ apiVersion: 'v1', kind: 'Secret', metadata } as WritableObject);
    world.wake();
    await scripted.pass(200);
    const [found] = world.kube.all('Certificate');
    if (found !== undefined) world.kube.change(found, { spec: {} });
    world.wake();
    await scripted.pass(300);
  },
};

function say({ world }: ScriptedWorld, object: KubeObject, condition: object): void {
  world.kube.change(object, { status: { conditions: [condition] } });
  world.wake();
}
