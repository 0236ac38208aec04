import { isGone } from './errors.ts';
import type { ListPage } from './json.ts';
import type { KindRef, KubeObject, ListOptions, ObjectList, RawOptions } from './port.ts';

/** Fetches one page of a collection. */
export type FetchPage = (query: NonNullable<RawOptions['query']>) => Promise<ListPage>;

export interface PagedListOptions extends ListOptions {
  readonly kind: KindRef;
  readonly pageSize: number;
}

/**
 * Reads a whole collection page by page. The snapshot that a page token names may be compacted away between two
 * pages, which is answered with 410: start over once; a list that takes longer than the apiserver keeps history
 * is then read in one piece. (A 410 also offers a token that continues on newer data; such a list would have no
 * resourceVersion from which a watch misses nothing.)
 */
export async function listInPages(fetchPage: FetchPage, options: PagedListOptions): Promise<ObjectList> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await readPages(fetchPage, attempt <= 2 ? options : { ...options, pageSize: undefined });
    } catch (error) {
      if (!isGone(error) || attempt > 2) throw error;
    }
  }
}

type ReadOptions = Omit<PagedListOptions, 'pageSize'> & { readonly pageSize: number | undefined };

async function readPages(fetchPage: FetchPage, options: ReadOptions): Promise<ObjectList> {
  const { kind, labelSelector, fieldSelector, pageSize, slim = (item: KubeObject) => item } = options;
  const items: KubeObject[] = [];
  for (let token: string | undefined; ; ) {
    const page = await fetchPage({ labelSelector, fieldSelector, limit: pageSize, continue: token });
    // Items of a list do not say what they are.
    for (const item of page.items)
      items.push(slim({ ...item, apiVersion: kind.apiVersion, kind: kind.kind }));
    const { resourceVersion, continue: next } = page.metadata;
    if (next === undefined || next === '') return { items, resourceVersion };
    token = next;
  }
}
