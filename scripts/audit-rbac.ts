/**
 * What the operator asked of API servers, held against its roles: requests that were refused, and rights that nobody used. It reads the audit
 * logs of all local stacks that are there, so run it after the end-to-end tests and drills. Exits with 1 when a right was not used.
 * Usage: scripts/audit-rbac.ts [--stack NAME]...
 */
import { createReadStream, existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { layoutOf, stacksDirectory } from '../local/stack/layout.ts';
import { type AuditEvent, type Right, type Rule, rightsOf, UsageCount } from './audit-rbac/usage.ts';
import { root } from './run.ts';

const ACCOUNT = 'etcd-operator';
const ROLES = ['deploy/rbac/cluster-role.yaml', 'deploy/rbac/lease-role.yaml'];
/** Rights that no request shows, because OwnerReferencesPermissionEnforcement asks for them: see docs/security.md. */
const ASKED_BY_THE_SERVER = /^(update .*\/finalizers|delete (services|poddisruptionbudgets|certificates))$/;

const { values } = parseArgs({ options: { stack: { type: 'string', multiple: true } } });
const stacks = values.stack ?? namesOfStacks();
const count = new UsageCount(ACCOUNT, rightsOf(ROLES.flatMap(rulesOf)).filter(isRequested));
for (const stack of stacks) for (const log of logsOf(stack)) await read(log);

const { requests, refused, unused } = count.result();
console.log(`${requests} requests of ${ACCOUNT} on the stacks ${stacks.join(', ')}`);
for (const { what, count: times, namespace, at } of refused)
  console.log(`refused: ${what}, ${times} times, first at ${at}${namespace ? ` in ${namespace}` : ''}`);
for (const right of unused) console.log(`not used: ${textOf(right)}`);
if (requests === 0) console.error('run end-to-end tests or drills first: scripts/test.ts --only e2e,drill');
if (requests === 0 || unused.length > 0) process.exitCode = 1;

function namesOfStacks(): string[] {
  const parent = stacksDirectory();
  if (!existsSync(parent)) return [];
  return readdirSync(parent, { withFileTypes: true })
    .filter(entry => entry.isDirectory() && !entry.name.startsWith('.'))
    .map(({ name }) => name);
}

function rulesOf(file: string): readonly Rule[] {
  return parseAllDocuments(readFileSync(join(root, file), 'utf8')).flatMap(
    document => (document.toJS() as { readonly rules?: readonly Rule[] }).rules ?? [],
  );
}

function isRequested({ verb, resource }: Right): boolean {
  return !ASKED_BY_THE_SERVER.test(`${verb} ${resource}`);
}

/** The audit log and those that were rotated. */
function logsOf(stack: string): string[] {
  const folder = dirname(layoutOf(stack).auditLog);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter(name => /^audit.*\.log$/.test(name))
    .map(name => join(folder, name));
}

async function read(log: string): Promise<void> {
  for await (const line of createInterface({ input: createReadStream(log) })) {
    const event = parsed(line);
    if (event !== undefined) count.add(event);
  }
}

/** Undefined for a line of which a server that was killed wrote only a part. */
function parsed(line: string): AuditEvent | undefined {
  try {
    return JSON.parse(line) as AuditEvent;
  } catch {
    return undefined;
  }
}

function textOf({ group, resource, verb, names }: Right): string {
  return `${verb} ${group === '' ? resource : `${resource}.${group}`}${names ? ` ${names.join(', ')}` : ''}`;
}
