/** Texts of users in the markdown of the Temporal UI. */
import type { BackupDecision, Decision } from '../../activities/index.ts';

/**
 * A text on one line, without markdown. Administrators of all namespaces read it: the author of a resource, or of a member's log, must
 * not be able to show them foreign images or misleading links.
 */
export function plain(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  let shown = '';
  let from = 0;
  for (const { index, 0: found } of line.matchAll(TO_BE_COPIED)) {
    shown += `${escaped(line.slice(from, index))}\`${found.replaceAll('`', '')}\``;
    from = index + found.length;
  }
  return shown + escaped(line.slice(from));
}

/**
 * JSON, and commands with flags: set as code, because the UI makes curly quotes of straight ones, and dashes of two hyphens. A command ends
 * where the sentence does.
 */
const TO_BE_COPIED =
  /\{(?="\w+":)(?:[^{}"]|"[^"]*")*\}|\b(?:kubectl|temporal|etcdctl) (?=[^";()]* --?[a-z])[^";()]*?(?=["();]|,? (?:or|and) |\. |$)/g;

/** A backtick of somebody else's would begin code, in which nothing is escaped, and a backslash undo what stands before the next character. */
function escaped(text: string): string {
  return text.replace(/[\\[\]<`]/g, '\\$&');
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
