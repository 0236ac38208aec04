import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StackContext } from './context.ts';
import { portsOf } from './context.ts';
import type { Program } from './control-plane.ts';

/**
 * Cluster DNS. Answers live for 2 s and denials for 1 s, so that a pod that has just got its address is found;
 * names outside the cluster do not exist: a stack has no way to the outside.
 */
export function renderCorefile(context: StackContext): string {
  const { addresses, layout } = context;
  const ports = portsOf(context);
  const zones = ['cluster.local', 'in-addr.arpa', 'ip6.arpa'];
  return `${zones.map(zone => `${zone}:${ports.dns}`).join(' ')} {
  bind ${addresses.host}
  errors
  health ${addresses.host}:${ports.dnsHealth}
  ready ${addresses.host}:${ports.dnsReady}
  kubernetes ${zones.join(' ')} {
    kubeconfig ${layout.kubeconfig}
    pods insecure
    ttl 2
  }
  cache {
    success 1000 2
    denial 1000 1
  }
}
.:${ports.dns} {
  bind ${addresses.host}
  errors
  template ANY ANY {
    rcode NXDOMAIN
  }
}
`;
}

/** CoreDNS as a host process, behind the Service kube-dns. */
export function corednsProgram(context: StackContext): Program {
  const folder = join(context.layout.directory, 'coredns');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'Corefile'), renderCorefile(context));
  return {
    command: context.toolchain.path('coredns'),
    args: ['-conf', join(folder, 'Corefile')],
  };
}
