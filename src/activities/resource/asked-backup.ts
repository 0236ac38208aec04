/** Asking an EtcdBackup for a backup of its cluster; it makes it as its own run. */
import { ANNOTATION_BACKUP_ASKED, API_VERSION } from '../../api/names.ts';
import type { EtcdBackup } from '../../api/schemas/types.ts';
import { parseTimestamp } from '../../api/values/time.ts';
import type { KindRef } from '../../kube/port.ts';
import { hasAnswered } from '../../planner/checks/asked-backup.ts';
import type { Dependencies } from '../runtime/dependencies.ts';
import { preconditionChanged } from '../runtime/failures.ts';
import { type WaitOutcome, waitUntil } from '../runtime/poll.ts';

const BACKUP: KindRef = { apiVersion: API_VERSION, kind: 'EtcdBackup' };

/** This very EtcdBackup, and when it is asked (RFC 3339). */
interface Question {
  readonly backup: string;
  readonly uid: string;
  readonly asked: string;
}

/** Writes the question, which wakes the workflow of the EtcdBackup. Asked twice it is asked once. @returns false: it was asked already */
export async function askForBackup(
  deps: Pick<Dependencies, 'kube'>,
  namespace: string,
  question: Question,
): Promise<boolean> {
  const { metadata } = await read(deps, namespace, question);
  const before = parseTimestamp(metadata.annotations?.[ANNOTATION_BACKUP_ASKED]) ?? 0;
  if (before >= (parseTimestamp(question.asked) ?? 0)) return false;
  const { backup: name, uid, asked } = question;
  const annotations = { [ANNOTATION_BACKUP_ASKED]: asked };
  await deps.kube.patch(
    { ...BACKUP, namespace, name },
    { metadata: { uid, annotations } },
    { type: 'merge' },
  );
  return true;
}

/** Waits until the question is answered; what the answer is worth is planned from. */
export async function awaitAnswer(
  deps: Pick<Dependencies, 'kube' | 'time' | 'now'>,
  namespace: string,
  question: Question,
): Promise<WaitOutcome> {
  return waitUntil(deps, async () => {
    const { status } = await read(deps, namespace, question);
    return hasAnswered({ asked: question.asked, lastRun: status?.lastRun }, deps.now()) ? 'done' : 'notYet';
  });
}

async function read(
  { kube }: Pick<Dependencies, 'kube'>,
  namespace: string,
  { backup: name, uid }: Question,
) {
  const found = await kube.get({ ...BACKUP, namespace, name });
  if (found?.metadata.uid !== uid) throw preconditionChanged(`EtcdBackup ${name} has been replaced`);
  // The API server validated it against our own schema, so its shape is known.
  const { status } = found as unknown as EtcdBackup;
  return { metadata: found.metadata, status };
}
