/** Requests of an API server's audit log, held against the rules of roles. Pure. */

/** A rule of a Role or ClusterRole that is about resources. */
export interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

/** One right: a verb on a resource (`pods`, `pods/status`), perhaps of named objects only. */
export interface Right {
  readonly group: string;
  readonly resource: string;
  readonly verb: string;
  readonly names?: readonly string[];
}

/** What an audit event says, as far as it is read (audit.k8s.io/v1, Event). */
export interface AuditEvent {
  readonly verb: string;
  readonly requestURI: string;
  readonly requestReceivedTimestamp: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A kind of request that the authorizer refused. */
export interface Refused {
  /** `list pods`, or the verb and the path of what is no resource. */
  readonly what: string;
  readonly count: number;
  /** Of the first of them. */
  readonly at: string;
  readonly namespace: string | undefined;
}

export interface Usage {
  readonly requests: number;
  readonly refused: readonly Refused[];
  readonly unused: readonly Right[];
}

/** Every right that rules grant, one for each verb and resource. */
export function rightsOf(rules: readonly Rule[]): Right[] {
  return rules.flatMap(({ apiGroups = [], resources = [], resourceNames, verbs }) =>
    apiGroups.flatMap(group =>
      resources.flatMap(resource =>
        verbs.map(
          (verb): Right => ({
            group,
            resource,
            verb,
            ...(resourceNames !== undefined && { names: resourceNames }),
          }),
        ),
      ),
    ),
  );
}

/** Counts the requests of an account, whatever its namespace. */
export class UsageCount {
  readonly #account: string;
  readonly #unused: Set<Right>;
  readonly #refused = new Map<string, Refused>();
  #requests = 0;

  /** @param account the name of the service account, without its namespace */
  constructor(account: string, rights: readonly Right[]) {
    this.#account = account;
    this.#unused = new Set(rights);
  }

  add(event: AuditEvent): void {
    if (!isOf(event, this.#account)) return;
    this.#requests += 1;
    if (event.annotations?.['authorization.k8s.io/decision'] === 'forbid') this.#refuse(event);
    for (const right of this.#unused) if (needs(event, right)) this.#unused.delete(right);
  }

  result(): Usage {
    return { requests: this.#requests, refused: [...this.#refused.values()], unused: [...this.#unused] };
  }

  #refuse(event: AuditEvent): void {
    const what = `${event.verb} ${resourceOf(event) ?? event.requestURI}`;
    const before = this.#refused.get(what);
    this.#refused.set(what, {
      what,
      count: (before?.count ?? 0) + 1,
      at: before?.at ?? event.requestReceivedTimestamp,
      namespace: before === undefined ? event.objectRef?.namespace : before.namespace,
    });
  }
}

function isOf({ user }: AuditEvent, account: string): boolean {
  const [system, kind, , name, ...rest] = user.username.split(':');
  return system === 'system' && kind === 'serviceaccount' && name === account && rest.length === 0;
}

/** `pods`, `pods/status`; undefined for what is no resource, as `/version`. */
function resourceOf({ objectRef }: AuditEvent): string | undefined {
  if (objectRef?.resource === undefined) return undefined;
  return objectRef.subresource === undefined
    ? objectRef.resource
    : `${objectRef.resource}/${objectRef.subresource}`;
}

/** Whether the request is one that the right is for. Lists and watches of one object by a field selector carry its name. */
function needs(event: AuditEvent, { group, resource, verb, names }: Right): boolean {
  return (
    event.verb === verb &&
    (event.objectRef?.apiGroup ?? '') === group &&
    resourceOf(event) === resource &&
    (names === undefined || names.includes(event.objectRef?.name ?? ''))
  );
}
