import { cloneJson, isJson, type Json, sameJson } from './fields.ts';

/** Label selectors as kubectl writes them: a=b, a==b, a!=b, a in (b,c), a notin (b,c), a, !a; joined by commas. */
export function matchesLabels(
  labels: Readonly<Record<string, string>>,
  selector: string | undefined,
): boolean {
  if (selector === undefined || selector.trim() === '') return true;
  return selector.split(/,(?![^(]*\))/).every(term => matchesTerm(labels, term.trim()));
}

function matchesTerm(labels: Readonly<Record<string, string>>, term: string): boolean {
  const set = /^(\S+)\s+(in|notin)\s+\(([^)]*)\)$/.exec(term);
  if (set !== null) {
    const [, key = '', operator, list = ''] = set;
    const isIn = list
      .split(',')
      .map(value => value.trim())
      .includes(labels[key] ?? '\0');
    return operator === 'in' ? isIn : !isIn;
  }
  const compare = /^([^!=\s]+)\s*(!=|==|=)\s*(\S*)$/.exec(term);
  if (compare !== null) {
    const [, key = '', operator, value = ''] = compare;
    return (labels[key] === value) === (operator !== '!=');
  }
  return term.startsWith('!') ? labels[term.slice(1)] === undefined : labels[term] !== undefined;
}

/** Field selectors: dotted paths compared with = or !=. */
export function matchesFields(object: Json, selector: string | undefined): boolean {
  if (selector === undefined || selector === '') return true;
  return selector.split(',').every(term => {
    const [, path = '', operator, value = ''] = /^([^!=]+)(!=|==|=)(.*)$/.exec(term) ?? [];
    let at: unknown = object;
    for (const field of path.split('.')) at = isJson(at) ? at[field] : undefined;
    return (
      ((typeof at === 'string' ? at : JSON.stringify(at ?? '').replaceAll('"', '')) === value) ===
      (operator !== '!=')
    );
  });
}

/** RFC 7386. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isJson(patch)) return cloneJson(patch);
  const result: Json = isJson(target) ? { ...target } : {};
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete result[field];
    else result[field] = mergePatch(result[field], value);
  }
  return result;
}

/** RFC 6902 with add, replace, remove and test. @throws Error with the text of the failing operation. */
export function jsonPatch(target: Json, operations: readonly unknown[]): Json {
  const root: Json = cloneJson(target);
  for (const operation of operations) {
    if (!isJson(operation) || typeof operation['path'] !== 'string') throw new Error('not an operation');
    const path = operation['path']
      .split('/')
      .slice(1)
      .map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = path.pop() ?? '';
    let parent: unknown = root;
    for (const part of path)
      parent = Array.isArray(parent) ? parent[Number(part)] : isJson(parent) ? parent[part] : undefined;
    operate(parent, last, operation);
  }
  return root;
}

function operate(parent: unknown, last: string, operation: Json): void {
  const failed = new Error(
    `the ${String(operation['op'])} operation does not apply: ${String(operation['path'])}`,
  );
  const value = cloneJson(operation['value']);
  if (Array.isArray(parent)) {
    const index = last === '-' ? parent.length : Number(last);
    if (operation['op'] === 'add') parent.splice(index, 0, value);
    else if (index >= parent.length) throw failed;
    else if (operation['op'] === 'replace') parent[index] = value;
    else if (operation['op'] === 'remove') parent.splice(index, 1);
    else if (operation['op'] !== 'test' || !sameJson(parent[index], value)) throw failed;
  } else if (isJson(parent)) {
    if (operation['op'] === 'add') parent[last] = value;
    else if (operation['op'] === 'test') {
      if (!sameJson(parent[last], value)) throw failed;
    } else if (!(last in parent)) throw failed;
    else if (operation['op'] === 'replace') parent[last] = value;
    else if (operation['op'] === 'remove') delete parent[last];
    else throw failed;
  } else throw failed;
}
