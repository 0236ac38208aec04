/** Texts of other people in the markdown of the Temporal UI. */
import type { BackupDecision, Decision } from '../../activities/index.ts';

/**
 * A text on one line, without markdown. Administrators of all namespaces read it: the author of a resource, or of a member's log, must
 * not be able to show them foreign images or misleading links.
 */
export function plain(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[[\]<]/g, '\\$&');
}

/** The same in a table. */
export function plainCell(text: string): string {
  return plain(text).replaceAll('|', '\\|');
}

/** What is decided, with the summaries of the plan's steps. */
export function decisionDetails(decision: Decision | BackupDecision, steps: readonly string[]): string {
  const lines = steps.map((summary, index) => `${index + 1}. ${plain(summary)}`);
  switch (decision.kind) {
    case 'gone':
      return 'The resource is gone.';
    case 'idle':
      return 'Nothing to do.';
    case 'blocked':
      return [`**Blocked: ${decision.reason}.** ${plain(decision.message)}`, ...lines].join('\n');
    case 'operate':
      return [`**${decision.operation}**`, ...lines].join('\n');
  }
}
