/** Alarms of etcd as users read them, with member ids as etcdctl and the status write them. Pure. */
import type { MemberProbe } from './member-probe.ts';

/** An alarm that etcd keeps until it is disarmed. */
export interface Alarm {
  /** Of the member that raised it, in hexadecimal; it may be no member any more. `0`: etcd does not say whose it is. */
  readonly memberId: string;
  readonly alarm: 'NOSPACE' | 'CORRUPT';
}

/** The alarms that stand: every member lists those of all members (etcd, server/etcdserver/api/v3rpc/maintenance.go, Status). */
export function alarmsOf(probes: Readonly<Record<string, MemberProbe>>): readonly Alarm[] {
  return alarmsIn(Object.values(probes).flatMap(probe => (probe.answered ? probe.errors : [])));
}

/** The same, from the errors that members list. */
export function alarmsIn(errors: readonly string[]): readonly Alarm[] {
  return [...new Set(errors)].toSorted().flatMap(text => {
    // Protobuf leaves out a zero.
    const [, id = '0', alarm] = /(?:memberID:(\d+)\s+)?alarm:(NOSPACE|CORRUPT)/.exec(text) ?? [];
    if (alarm === undefined) return [];
    return [{ memberId: BigInt(id).toString(16), alarm: alarm === 'CORRUPT' ? alarm : 'NOSPACE' } as const];
  });
}

/** An error that a member reports, with the id of an alarm in hexadecimal: etcd writes it as a decimal number there. */
export function alarmText(error: string): string {
  return error.replaceAll(
    /(?:memberID:(\d+)\s+)?alarm:([A-Z]+)\s*/g,
    (_, id: string | undefined, alarm: string) => `alarm ${alarm} of member ${BigInt(id ?? 0).toString(16)}`,
  );
}

/** Whether an error is that etcd refuses writes because a database is full: such a member answers, reads and votes. */
export function isNoSpace(error: string): boolean {
  return error.includes('NOSPACE');
}
