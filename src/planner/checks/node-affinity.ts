/**
 * On which Nodes a volume can be used, judged by the terms of its own affinity as the scheduler judges them: terms are ORed,
 * what a term requires is ANDed, a term that requires nothing matches nothing (Kubernetes, "NodeSelectorTerm"). Pure.
 */
import type { VolumeHome } from '../model/observation.ts';

/** A Node, as far as an affinity asks about it. */
export interface NodeFacts {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** One of `nodeAffinity.required.nodeSelectorTerms` of a PersistentVolume. */
export interface SelectorTerm {
  readonly matchExpressions?: readonly Requirement[];
  readonly matchFields?: readonly Requirement[];
}

/** What is asked about a volume. */
export interface Place {
  readonly terms: readonly SelectorTerm[];
  /** Every Node there is; undefined: the operator may not list them. */
  readonly nodes: readonly NodeFacts[] | undefined;
  /** Names of Nodes on which the volume is known to have been used. */
  readonly usedOn: readonly string[];
}

const HOSTNAME = 'kubernetes.io/hostname';
/** The one field that Kubernetes lets `matchFields` name. */
const NODE_NAME = 'metadata.name';
const INTEGER = /^[+-]?\d+$/;

/**
 * Where a volume lies that is pinned to hosts; undefined for one that follows its pod. It is gone only when its one host is: no
 * Node matches, and those on which it was used do not exist any more. A Node whose labels somebody changed, a zone without
 * Nodes and terms that cannot be evaluated prove nothing.
 */
export function homeOf({ terms, nodes, usedOn }: Place): VolumeHome | undefined {
  if (terms.length === 0) return undefined;
  const hosts = hostsOf(terms);
  const asks = terms.map(textOf).join(' or ');
  if (nodes === undefined) {
    if (hosts === undefined) return undefined;
    return { node: hosts.join(', '), exists: undefined, why: 'the operator has no permission to list Nodes' };
  }
  const matching = nodes.filter(node => terms.some(term => matches(term, node) === true));
  if (matching.length > 0) {
    // A volume of a zone follows its pod within it.
    return hosts && { node: matching.map(({ name }) => name).join(', '), exists: true };
  }
  const unknown = (why: string): VolumeHome => ({
    node: hosts?.join(', ') ?? asks,
    exists: undefined,
    why: `no Node matches its node affinity (${asks})${why}`,
  });
  const there = usedOn.filter(used => nodes.some(({ name }) => name === used));
  if (there.length > 0)
    return unknown(
      `, but Node ${there.join(', ')}, where it was used, exists: correct the labels of that Node`,
    );
  if (hosts?.length !== 1 || terms.some(term => !isReadable(term))) return unknown('');
  if (usedOn.length === 0) return unknown(', and the Node where it was used is not known');
  return { node: usedOn.join(', '), exists: false };
}

/** Whether the Node matches the term; undefined when that cannot be said. */
export function matches(term: SelectorTerm, node: NodeFacts): boolean | undefined {
  const { matchExpressions = [], matchFields = [] } = term;
  if (matchExpressions.length + matchFields.length === 0) return false;
  if (!isReadable(term)) return undefined;
  return (
    matchExpressions.every(requirement => holds(requirement, node.labels[requirement.key])) &&
    matchFields.every(requirement => holds(requirement, node.name))
  );
}

/** Whether the scheduler would read it: one that it cannot parse is no reason to call a volume lost. */
function isReadable({ matchExpressions = [], matchFields = [] }: SelectorTerm): boolean {
  return matchExpressions.every(isReadableExpression) && matchFields.every(isReadableField);
}

function isReadableExpression({ operator, values = [] }: Requirement): boolean {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0;
    case 'Exists':
    case 'DoesNotExist':
      return values.length === 0;
    case 'Gt':
    case 'Lt':
      return values.length === 1 && values.every(value => INTEGER.test(value));
    default:
      return false;
  }
}

function isReadableField({ key, operator, values = [] }: Requirement): boolean {
  return key === NODE_NAME && (operator === 'In' || operator === 'NotIn') && values.length === 1;
}

/** `is`: what the Node has; undefined: it has no such label. The requirement can be read. */
function holds({ operator, values = [] }: Requirement, is: string | undefined): boolean {
  const [bound = ''] = values;
  switch (operator) {
    case 'In':
      return is !== undefined && values.includes(is);
    case 'NotIn':
      return is === undefined || !values.includes(is);
    case 'Exists':
      return is !== undefined;
    case 'DoesNotExist':
      return is === undefined;
    default:
      if (is === undefined || !INTEGER.test(is)) return false;
      return operator === 'Gt' ? BigInt(is) > BigInt(bound) : BigInt(is) < BigInt(bound);
  }
}

/** The hosts that the terms name, by label or by name; undefined when one of them names none: a zone is no host. */
function hostsOf(terms: readonly SelectorTerm[]): readonly string[] | undefined {
  const named = terms.map(({ matchExpressions = [], matchFields = [] }) =>
    [
      ...matchExpressions.filter(({ key }) => key === HOSTNAME),
      ...matchFields.filter(({ key }) => key === NODE_NAME),
    ]
      .filter(({ operator }) => operator === 'In')
      .flatMap(({ values = [] }) => values),
  );
  return named.some(hosts => hosts.length === 0) ? undefined : [...new Set(named.flat())];
}

function textOf({ matchExpressions = [], matchFields = [] }: SelectorTerm): string {
  return [...matchExpressions, ...matchFields]
    .map(({ key, operator, values = [] }) => [key, operator, values.join(', ')].filter(Boolean).join(' '))
    .join(' and ');
}
