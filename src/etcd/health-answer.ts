/** Reads what a member answers to a request for its health page, as the text comes in. Pure. */

/** What is read of a page that is no member's, with its headers. */
const MOST_CHARACTERS = 4_096;

/** What is read of an answer so far. */
export type HealthAnswer =
  | { readonly state: 'incomplete' }
  /** No answer of HTTP/1.1, or one that a member does not give: the connection is of no use any more. */
  | { readonly state: 'unreadable' }
  | {
      readonly state: 'complete';
      /** `well`, or etcd's reason, such as `ALARM NOSPACE`. */
      readonly wellbeing: string;
      /** Another request may follow on the same connection. */
      readonly reusable: boolean;
    };

/**
 * Reads an answer to `GET /health`: etcd says 200 when a linearizable read goes through, there is a leader and there is no alarm, and
 * else 503 with a reason (server/etcdserver/api/etcdhttp/health.go of etcd).
 * @param text all that has come in on this connection since the request
 * @param hasEnded the member has ended the connection
 */
export function readHealthAnswer(text: string, hasEnded: boolean): HealthAnswer {
  if (text.length > MOST_CHARACTERS) return { state: 'unreadable' };
  const headEnd = text.indexOf('\r\n\r\n');
  const whole = { state: hasEnded ? 'unreadable' : 'incomplete' } as const;
  if (headEnd < 0) return whole;
  const head = text.slice(0, headEnd + 2);
  const status = Number(/^HTTP\/1\.[01] ([2-5]\d\d)[ \r]/.exec(head)?.[1]);
  if (Number.isNaN(status)) return { state: 'unreadable' };
  const body = bodyOf(head, text.slice(headEnd + 4), hasEnded);
  if (body === undefined) return whole;
  const isLast = hasEnded || head.startsWith('HTTP/1.0') || /\r\nconnection: *close\r\n/i.test(head);
  return { state: 'complete', wellbeing: wellbeingOf(status, body.text), reusable: !isLast && body.isExact };
}

/**
 * Undefined while something of it is still to come (RFC 9112, section 6.3). A chunked body is searched as it is. `isExact`: nothing
 * follows that was not asked for.
 */
function bodyOf(
  head: string,
  rest: string,
  hasEnded: boolean,
): { readonly text: string; readonly isExact: boolean } | undefined {
  if (/\r\ntransfer-encoding:/i.test(head))
    return rest.endsWith('0\r\n\r\n') ? { text: rest, isExact: true } : undefined;
  const length = /\r\ncontent-length: *(\d+)\r\n/i.exec(head)?.[1];
  if (length === undefined) return hasEnded ? { text: rest, isExact: false } : undefined;
  const missing = Number(length) - rest.length;
  return missing > 0 ? undefined : { text: rest, isExact: missing === 0 };
}

/** etcd's reasons begin with a kind (`ALARM NOSPACE`, `RAFT NO LEADER`, `QGET ERROR:` and a text that varies). */
function wellbeingOf(status: number, text: string): string {
  if (status === 200) return 'well';
  const reason = /"reason"\s*:\s*"([A-Z ]{1,40})/.exec(text)?.[1]?.trim();
  return reason ?? `HTTP ${status}`;
}
