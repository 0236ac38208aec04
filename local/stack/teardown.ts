import { removeCgroup } from './cgroups.ts';
import type { StoredStack } from './context.ts';
import { save } from './context.ts';
import { HOST_COMPONENTS } from './control-plane.ts';
import { removeFirewallRules } from './firewall.ts';
import { releaseInotify } from './inotify.ts';
import { removeMounts } from './mounts.ts';
import { linkExists, removeNetwork } from './network.ts';
import { stopNode } from './nodes.ts';
import { endMarked, isRunning } from './processes.ts';
import { stopComponent } from './services.ts';

/**
 * Ends every process of a stack and removes everything it has outside its folder: mounts, loop devices,
 * interfaces, routes, cgroups, firewall rules. What is already gone is no error, so it serves after a crash too.
 */
export async function tearDown(stack: StoredStack): Promise<void> {
  const { layout, state } = stack;
  await Promise.all(state.nodes.map(node => stopNode(stack, node.index)));
  await Promise.all(HOST_COMPONENTS.map(component => stopComponent(stack, component)));
  await endMarked(layout.id, () => true);
  await removeMounts(layout.directory);
  await removeNetwork(layout);
  await removeFirewallRules(stack);
  await removeCgroup(layout.cgroup);
  await releaseInotify(stack);
  state.processes = {};
  save(stack);
}

/** Kills what carries the stack's mark but belongs to no running process of its record: remains of a crash. */
async function endStrays(stack: StoredStack): Promise<number> {
  const recorded = Object.values(stack.state.processes).filter(isRunning);
  const tokens = new Set(recorded.map(record => record.token));
  return endMarked(stack.layout.id, found => !tokens.has(found.token));
}

/** Ends what runs at the end of a cable that is gone: nothing reaches it any more, and `up` starts it again. */
async function endUnplugged(stack: StoredStack): Promise<void> {
  const { layout, state } = stack;
  const unplugged = state.nodes.filter(node => !linkExists(layout.nodeLink(node.index)));
  await Promise.all(unplugged.map(node => stopNode(stack, node.index)));
  if (!linkExists(layout.temporalLink)) await stopComponent(stack, 'temporal');
}

/**
 * Puts a stack into order after a crash, a kill or a power cut: what still runs as recorded stays, everything
 * else goes. Its data stays. Gives true when something of the stack still runs.
 */
export async function clearStale(stack: StoredStack): Promise<boolean> {
  await endStrays(stack);
  await endUnplugged(stack);
  const { state } = stack;
  const alive = Object.entries(state.processes).filter(([, record]) => isRunning(record));
  if (alive.length === 0) {
    await tearDown(stack);
    return false;
  }
  state.processes = Object.fromEntries(alive);
  save(stack);
  return true;
}
