import { KubeError } from './errors.ts';
import type { KubeObject } from './port.ts';
import { isRecord } from '../api/values/is-record.ts';

export interface ListPage {
  readonly items: KubeObject[];
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
}

/** @throws KubeError BadResponse; the text is not quoted, as it may be a Secret. */
function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw badResponse(path, 'is not JSON, or is truncated');
  }
}

/** One answer to a list. @throws KubeError BadResponse */
export function parsePage(text: string, path: string): ListPage {
  const page = parseJson(text, path);
  if (
    isRecord(page) &&
    isRecord(page['metadata']) &&
    typeof page['metadata']['resourceVersion'] === 'string'
  ) {
    // An empty list of some kinds comes with `items: null`.
    const items = page['items'] ?? [];
    if (Array.isArray(items) && items.every(isItem)) return { ...page, items } as unknown as ListPage;
  }
  throw badResponse(path, 'is not a list');
}

/** One object. @throws KubeError BadResponse */
export function parseObject(text: string, path: string): KubeObject {
  const object = parseJson(text, path);
  if (isRecord(object) && typeof object['apiVersion'] === 'string' && typeof object['kind'] === 'string') {
    const { kind } = object;
    if (isItem(object)) return object as KubeObject;
    if (String(kind).endsWith('Review')) return review(object, path);
  }
  throw badResponse(path, 'is not a Kubernetes object');
}

/** A review, such as a SelfSubjectReview, is answered and never stored: it has no name, which is '' here. */
function review(object: Record<string, unknown>, path: string): KubeObject {
  const { metadata = {} } = object;
  if (!isRecord(metadata)) throw badResponse(path, 'is not a Kubernetes object');
  return { ...object, metadata: { ...metadata, name: '' } } as unknown as KubeObject;
}

function badResponse(path: string, problem: string): KubeError {
  const message = `the answer to ${path} ${problem}`;
  return new KubeError({ code: 0, reason: 'BadResponse', message, retry: 'later' });
}

/** Items of a list carry no apiVersion and kind. */
function isItem(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && isRecord(value['metadata']) && typeof value['metadata']['name'] === 'string';
}
