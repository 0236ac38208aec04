/** Pages of metrics as members serve them, and a kubectl that reads them. */
import type { Person } from './process.ts';

interface Page {
  readonly leads?: boolean;
  readonly hasLeader?: boolean;
  readonly committed?: number;
  readonly applied?: number;
  readonly size?: number;
  readonly inUse?: number;
  readonly quota?: number;
}

/** As etcd 3.6 writes it: large numbers with an exponent, other metrics with similar names. */
function pageOf({ leads = false, hasLeader = true, ...rest }: Page): string {
  const {
    committed = 1_000,
    applied = committed,
    size = 20_480,
    inUse = 16_384,
    quota = 2_147_483_648,
  } = rest;
  const go = (value: number): string =>
    value >= 1e6 ? value.toExponential().replace(/e\+(\d)$/, 'e+0$1') : `${value}`;
  return [
    '# HELP etcd_server_is_leader Whether or not this member is a leader. 1 if is, 0 otherwise.',
    '# TYPE etcd_server_is_leader gauge',
    `etcd_server_is_leader ${Number(leads)}`,
    `etcd_server_has_leader ${Number(hasLeader)}`,
    'etcd_debugging_mvcc_total_put_size_in_bytes 7',
    `etcd_mvcc_db_total_size_in_bytes ${go(size)}`,
    `etcd_mvcc_db_total_size_in_use_in_bytes ${go(inUse)}`,
    'etcd_server_proposals_pending 0',
    `etcd_server_proposals_applied_total ${go(applied)}`,
    `etcd_server_proposals_committed_total ${go(committed)}`,
    `etcd_server_quota_backend_bytes ${go(quota)}`,
    '',
  ].join('\n');
}

type Answer = Page | { readonly err: string } | { readonly timedOut: true };

/** kubectl, which reads these pages by the name of the member; who is asked, and when, is added to `asked`. */
export function kubectlWith(
  pages: Readonly<Record<string, Answer>>,
  asked: string[] = [],
): NonNullable<Person['capture']> {
  return async line => {
    const name =
      /\/pods\/([^:]+):2381\/proxy\/metrics$/.exec(line.find(word => word.startsWith('/api/')) ?? '')?.[1] ??
      '';
    asked.push(name);
    const answer = pages[name] ?? { err: `Error from server (NotFound): pods "${name}" not found` };
    if ('err' in answer) return { code: 1, out: '', err: answer.err };
    if ('timedOut' in answer) return { code: 1, out: '', err: 'it took longer than 5 s', timedOut: true };
    return { code: 0, out: pageOf(answer), err: '' };
  };
}
