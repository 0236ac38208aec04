import type { StackContext, StoredStack } from './context.ts';
import { save } from './context.ts';
import { attempt, execute } from './execute.ts';
import type { Layout } from './layout.ts';

type Chain = 'INPUT' | 'FORWARD';

/** Matches what comes in over the stack's bridge; in FORWARD also what the bridge passes from node to node. */
function rule(layout: Layout, chain: Chain): string[] {
  return [chain, '-i', layout.bridge, '-m', 'comment', '--comment', layout.id, '-j', 'ACCEPT'];
}

/**
 * True when a chain, as `iptables -S` prints it, may drop packets: its policy is not ACCEPT, or it has rules of
 * its own (Docker's, ufw's, firewalld's).
 */
export function mayDrop(listing: string, ownComment: string): boolean {
  const lines = listing.split('\n').filter(line => line !== '' && !line.includes(ownComment));
  return lines.some(line => !/^-P \S+ ACCEPT$/.test(line));
}

/**
 * Lets the stack's own traffic through the host's firewall where there is one. A machine without rules stays
 * untouched; the rules added are removed by `down`.
 */
export async function ensureFirewallRules(context: StackContext): Promise<void> {
  const { layout, state } = context;
  for (const chain of ['INPUT', 'FORWARD'] as const) {
    if (!mayDrop(await execute('iptables', ['-w', '-S', chain]), layout.id)) continue;
    if (await attempt('iptables', ['-w', '-C', ...rule(layout, chain)])) continue;
    state.firewall = true;
    save(context);
    await execute('iptables', ['-w', '-I', ...rule(layout, chain)]);
  }
}

/** Removes the rules that were added for this stack. */
export async function removeFirewallRules(stack: StoredStack): Promise<void> {
  const { layout, state } = stack;
  if (!state.firewall) return;
  for (const chain of ['INPUT', 'FORWARD'] as const) {
    while (await attempt('iptables', ['-w', '-C', ...rule(layout, chain)])) {
      await execute('iptables', ['-w', '-D', ...rule(layout, chain)]);
    }
  }
  state.firewall = false;
  save(stack);
}
