/** Asks the members of a cluster what a pass would ask them, outside of a pass: for the watcher's survey. */
import { domainOf } from '../../api/derived/domain.ts';
import { securityOf } from '../../api/derived/tls.ts';
import type { ResourceRef } from '../../api/names.ts';
import type { EtcdPort } from '../../etcd/port.ts';
import type { KubeClient } from '../../kube/port.ts';
import { readCluster } from '../resource/read-cluster.ts';
import { messageOf } from '../../api/values/message-of.ts';
import { clientAccess, readTlsSecrets } from './certificate-secrets.ts';
import { type ClusterAddress, type EtcdFacts, probeMembers } from './probe.ts';

export interface SurveyorPorts {
  readonly kube: KubeClient;
  readonly etcd: EtcdPort;
}

/**
 * Remembers how each cluster is reached, so that the API server is asked once and not each time: certificates live in memory only, until
 * no quorum answers, of which they may be the reason.
 */
export class Surveyor {
  readonly #ports: SurveyorPorts;
  /** By uid. */
  readonly #addresses = new Map<string, ClusterAddress>();

  constructor(ports: SurveyorPorts) {
    this.#ports = ports;
  }

  /**
   * What these pods answer, and what a quorum lists. `plainDomain`: of a cluster without TLS, of which nothing has to be read. Never rejects.
   */
  async ask(
    ref: ResourceRef,
    how: {
      readonly pods: readonly { readonly name: string; readonly ip: string }[];
      readonly plainDomain: string | undefined;
    },
  ): Promise<EtcdFacts> {
    try {
      const address = await this.#address(ref, how.plainDomain);
      const facts = await probeMembers(this.#ports.etcd, address, how.pods);
      if (!facts.membership.known) this.forget(ref.uid);
      return facts;
    } catch (error) {
      return { probes: {}, membership: { known: false, message: messageOf(error) } };
    }
  }

  /** The cluster is gone, or its certificates may be others. */
  forget(uid: string): void {
    this.#addresses.delete(uid);
  }

  async #address(ref: ResourceRef, plainDomain: string | undefined): Promise<ClusterAddress> {
    if (plainDomain !== undefined)
      return {
        name: ref.name,
        namespace: ref.namespace,
        domain: plainDomain,
        access: { tls: undefined },
      };
    const known = this.#addresses.get(ref.uid);
    if (known !== undefined) return known;
    const cluster = await readCluster(this.#ports.kube, ref);
    if (cluster === undefined) throw new Error(`EtcdCluster ${ref.namespace}/${ref.name} does not exist`);
    const secrets = securityOf(cluster) === undefined ? [] : await readTlsSecrets(this.#ports.kube, cluster);
    const { namespace, name } = ref;
    const address = { name, namespace, domain: domainOf(cluster), access: clientAccess(secrets) };
    this.#addresses.set(ref.uid, address);
    return address;
  }
}
