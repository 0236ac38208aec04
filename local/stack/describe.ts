import { formatDuration } from '../progress.ts';
import type { Stack } from './stack.ts';
import type { ComponentStatus, NodeStatus, StackStatus } from './status.ts';

/** What a person wants to know right after `up`. */
export function summary(stack: Stack, milliseconds: number): string {
  return `Stack ${stack.name} is up after ${formatDuration(milliseconds)}: nodes ${stack.nodes.join(', ')}
  Kubernetes   export KUBECONFIG=${stack.kubeconfig}
  Temporal     ${stack.temporalAddress}   UI ${stack.temporalUi}
  all at once  eval "$(local/local env --name ${stack.name})"
`;
}

const mebibytes = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`;

function row(cells: readonly string[], widths: readonly number[]): string {
  return `  ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd();
}

function power(component: ComponentStatus): string {
  return component.running ? 'running' : 'stopped';
}

function nodeState(node: NodeStatus): string {
  if (!node.running) return 'off';
  const ready = node.ready === 'unknown' ? 'readiness unknown' : node.ready ? 'Ready' : 'NotReady';
  return node.cable === 'pulled' ? `${ready}, disconnected` : ready;
}

/** The status as a table for users. */
export function printStatus(status: StackStatus): string {
  const widths = [20, 24, 10, 16];
  const components = status.components.map(component =>
    row(
      [component.name, power(component), mebibytes(component.residentBytes), String(component.pid ?? '')],
      widths,
    ),
  );
  const nodes = status.nodes.map(node =>
    row(
      [node.name, nodeState(node), mebibytes(node.residentBytes), node.address, `${node.images} images`],
      widths,
    ),
  );
  return [
    `Stack ${status.name}: ${status.running ? 'running' : 'down'}, network ${status.network}, ${status.directory}`,
    ...components,
    ...nodes,
    `  memory: ${mebibytes(status.residentBytes)} resident, ${mebibytes(status.proportionalBytes)} with shared pages counted once`,
    `  KUBECONFIG=${status.kubeconfig}`,
    `  Temporal ${status.temporalAddress}, UI ${status.temporalUi}`,
    '',
  ].join('\n');
}
