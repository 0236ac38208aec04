import { isGone, isTooLarge, KubeError } from './errors.ts';
import type { ListPage } from './json.ts';
import type { Query } from './transport.ts';
import type { KindRef, KubeObject, ListOptions, ObjectList } from './port.ts';

/** Fetches one page of a collection; `bytes` is about what it took. */
export type FetchPage = (query: Query) => Promise<ListPage & { readonly bytes: number }>;

export interface PagedListOptions extends ListOptions {
  readonly kind: KindRef;
  readonly pageSize: number;
}

/** Of a page with several objects: objects may be of 1.5 MiB each, and who creates them decides how many there are. */
const PAGE_BYTES = 4 * 1024 * 1024;
/** Of what is read in one piece, such as one object with everything in it escaped. */
const PIECE_BYTES = 32 * 1024 * 1024;
/** Of a list that is kept as it comes. What is slimmed is of bounded size, and may be more. */
const LIST_BYTES = 64 * 1024 * 1024;

/** How many bytes an answer to a list may have. @param limit the items that were asked for; undefined: all */
export function bytesOfPage(limit: unknown): number {
  return typeof limit === 'number' && limit > 1 ? PAGE_BYTES : PIECE_BYTES;
}

/**
 * Reads a whole collection page by page. The snapshot that a page token names may be compacted away between two
 * pages, which is answered with 410: start over once; a list that takes longer than the apiserver keeps history
 * is then read in one piece. (A 410 also offers a token that continues on newer data; such a list would have no
 * resourceVersion from which a watch misses nothing.) A page that is too large is asked for again with fewer items.
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
  const { kind, labelSelector, fieldSelector, slim } = options;
  const items: KubeObject[] = [];
  let limit = options.atMost ?? options.pageSize;
  let bytes = 0;
  for (let token: string | undefined; ; ) {
    const page = await fetchPage({ labelSelector, fieldSelector, limit, continue: token }).catch(error => {
      if (limit === undefined || limit === 1 || !isTooLarge(error)) throw error;
      limit = Math.max(1, Math.floor(limit / 4));
      return undefined;
    });
    if (page === undefined) continue;
    bytes += page.bytes;
    if (slim === undefined && bytes > LIST_BYTES) throw tooLarge(options);
    // Items of a list do not say what they are.
    for (const item of page.items) {
      const object = { ...item, apiVersion: kind.apiVersion, kind: kind.kind };
      items.push(slim === undefined ? object : slim(object));
    }
    const { resourceVersion, continue: next } = page.metadata;
    if (next === undefined || next === '') return { items, resourceVersion };
    if (options.atMost !== undefined) return { items, resourceVersion, isPartial: true };
    token = next;
  }
}

function tooLarge({ kind, namespace, labelSelector }: ReadOptions): KubeError {
  const where = namespace === undefined ? '' : ` in namespace ${namespace}`;
  const which = labelSelector === undefined ? '' : ` with ${labelSelector}`;
  const message = `all objects of kind ${kind.kind}${where}${which} are more than ${LIST_BYTES} bytes, which is more than the operator reads at once: delete objects that are no longer needed`;
  return new KubeError({ code: 0, reason: 'TooLarge', message, retry: 'later' });
}
