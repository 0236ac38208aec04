/** Alarms of etcd as users read them, with member ids as etcdctl and the status write them, and how an alarm ends. Pure. */

/** An error that a member reports, with the id of an alarm in hexadecimal: etcd writes it as a decimal number there. */
export function alarmText(error: string): string {
  return error.replaceAll(
    /memberID:(\d+)\s+alarm:([A-Z]+)\s*/g,
    (_, id: string, alarm: string) => `alarm ${alarm} of member ${BigInt(id).toString(16)}`,
  );
}

/** Whether an error is that etcd refuses writes because a database is full: such a member answers, reads and votes. */
export function isNoSpace(error: string): boolean {
  return error.includes('NOSPACE');
}

/** What ends NOSPACE, in the order in which it has to be done; nothing ends it by itself. */
export function endOfNoSpace({
  namespace,
  name,
}: {
  readonly namespace: string;
  readonly name: string;
}): string {
  return (
    'etcd refuses writes until the alarm is disarmed, also when its database has room again. ' +
    'First make room: raise spec.etcd.quotaBackendBytes and wait for the rollout, or delete keys, compact, and defragment each member. ' +
    `Then disarm it: kubectl -n ${namespace} exec svc/${name}-client -c etcd -- etcdctl alarm disarm`
  );
}
