/** Markdown for the Temporal UI: the newest backups, and what comes next. */
import type { BackupAssessment } from '../../activities/index.ts';
import { decisionDetails, plain, plainCell } from '../messages/markdown.ts';

/** What is shown of an EtcdBackup, as the last pass saw it. */
export function backupDetails({ decision, summary }: BackupAssessment): string {
  if (summary === undefined) return 'The resource is gone.';
  const { phase = 'Pending', Reason, progress, newest, nextRun } = summary;
  const rows = newest.map(
    ({ time, location, verified }) => `| ${time} | ${plainCell(location)} | ${verified || '–'} |`,
  );
  const paragraphs = [
    `**${phase}**${Reason === undefined ? '' : `: ${plain(Reason)}`}`,
    progress?.bytes === undefined ? '' : `${progress.bytes} of ${progress.total ?? '?'} bytes`,
    nextRun === undefined ? '' : `Next backup: ${nextRun}`,
    rows.length === 0 ? '' : ['| `Time` | `Object` | `Verified` |', '|:---|:---|:---|', ...rows].join('\n'),
    decisionDetails(decision, decision.kind === 'operate' ? [decision.summary] : []),
  ];
  return paragraphs.filter(text => text !== '').join('\n\n');
}
