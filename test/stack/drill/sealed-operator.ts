/** The deployed operator with certificates for Temporal and with keys for payloads, as docs/operations say that it is configured. */
import { OPERATOR_NAMESPACE } from '../../../local/operator.ts';
import { secret } from '../../fakes/certificates.ts';
import type { World } from '../e2e.ts';
import { type SealedTemporal, sealTemporal } from '../sealed-temporal.ts';

const DEPLOYMENT = 'deployment/etcd-operator';
const TLS = { name: 'temporal-tls', path: '/etc/temporal-tls' };
const CODEC = { name: 'etcd-operator-codec', path: '/etc/temporal-codec' };

const add = (path: string, value: unknown) => ({ op: 'add', path: `/spec/template/spec/${path}/-`, value });
const mounted = ({ name, path }: typeof TLS) => [
  add('volumes', { name, secret: { secretName: name } }),
  add('containers/0/volumeMounts', { name, mountPath: path, readOnly: true }),
];
const variable = (name: string, value: string) => add('containers/0/env', { name, value });

export class SealedOperator {
  readonly #world: World;
  readonly #temporal: SealedTemporal;

  private constructor(world: World, temporal: SealedTemporal) {
    this.#world = world;
    this.#temporal = temporal;
  }

  /** Puts TLS before the Temporal of the stack, which has none, and rolls the operator out with a certificate and with keys. */
  static async start(world: World): Promise<SealedOperator> {
    const temporal = await sealTemporal(world);
    const operator = new SealedOperator(world, temporal);
    await operator.certify();
    await operator.keys({ first: key(), active: 'none' });
    const patch = [
      ...mounted(TLS),
      ...mounted(CODEC),
      variable('TEMPORAL_TLS_SERVER_CA_CERT_PATH', `${TLS.path}/ca.crt`),
      variable('TEMPORAL_TLS_CLIENT_CERT_PATH', `${TLS.path}/tls.crt`),
      variable('TEMPORAL_TLS_CLIENT_KEY_PATH', `${TLS.path}/tls.key`),
      variable('TEMPORAL_CODEC_KEYS', CODEC.path),
    ];
    await operator.#kubectl('rollout', 'pause', DEPLOYMENT);
    await operator.#kubectl('patch', DEPLOYMENT, '--type', 'json', '-p', JSON.stringify(patch));
    await operator.#kubectl('set', 'env', DEPLOYMENT, `TEMPORAL_ADDRESS=${temporal.address}`);
    await operator.#kubectl('rollout', 'resume', DEPLOYMENT);
    await operator.#rolledOut();
    return operator;
  }

  /** Writes a certificate with its key, or with that of another one. */
  async certify({ withKeyOfAnother = false } = {}): Promise<void> {
    const [own, other] = await Promise.all([this.#temporal.issue(), this.#temporal.issue()]);
    const files = withKeyOfAnother ? { ...own, 'tls.key': other['tls.key'] } : own;
    await this.#world.kube.apply(secret(OPERATOR_NAMESPACE, TLS.name, files));
  }

  /** Sets keys, and the id of the active one; null removes one. */
  async keys(files: Readonly<Record<string, string | null>>): Promise<void> {
    const data = Object.entries(files).map(([name, text]) => [
      name,
      text === null ? null : Buffer.from(text).toString('base64'),
    ]);
    const existing = await this.#kubectl('get', 'secret', CODEC.name, '--ignore-not-found', '-o', 'name');
    if (existing.trim() === '') await this.#kubectl('create', 'secret', 'generic', CODEC.name);
    const patch = JSON.stringify({ data: Object.fromEntries(data) });
    await this.#kubectl('patch', 'secret', CODEC.name, '--type', 'merge', '-p', patch);
  }

  /** Makes every replica again, so that each reads its files and every history from the beginning. */
  async restart(): Promise<void> {
    await this.#kubectl('rollout', 'restart', DEPLOYMENT);
    await this.#rolledOut();
  }

  /** Takes the Deployment away; `installOperator` brings one back as it is shipped. */
  async stop(): Promise<void> {
    await this.#kubectl('delete', DEPLOYMENT, '--cascade=foreground', '--timeout=120s');
    await this.#kubectl('delete', 'secret', TLS.name, CODEC.name, '--ignore-not-found');
    await this.#temporal.stop();
  }

  #rolledOut(): Promise<string> {
    return this.#kubectl('rollout', 'status', DEPLOYMENT, '--timeout=300s');
  }

  #kubectl(...args: string[]): Promise<string> {
    return this.#world.stack.kubectl('-n', OPERATOR_NAMESPACE, ...args);
  }
}

/** 32 random bytes, as a file has them. */
export const key = (): string => Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64');
