import { cloneJson } from './fields.ts';
import type { KindRef, KubeObject, WatchEvent, WatchOptions } from '../../../src/kube/port.ts';
import { type Change, type FakeStorage, fault, isOfKind, selects } from './storage.ts';

/** A watch: what has happened since its resourceVersion, then what happens, until its time or its signal ends it. */
export async function* watchStorage(
  storage: FakeStorage,
  kind: KindRef,
  options: WatchOptions,
): AsyncGenerator<WatchEvent> {
  const from = Number(options.resourceVersion);
  if (from < storage.compacted) throw fault(410, 'Expired', `too old resource version: ${from}`);
  const queue = storage.changes.filter(change => change.revision > from);
  let wake = (): void => {};
  const onChange = (change: Change): void => {
    queue.push(change);
    wake();
  };
  const signals = options.signal === undefined ? [] : [options.signal];
  const ended = AbortSignal.any([AbortSignal.timeout(options.timeoutSeconds * 1000), ...signals]);
  ended.addEventListener('abort', () => wake());
  storage.listeners.add(onChange);
  try {
    options.onOpen?.();
    while (!ended.aborted) {
      const change = queue.shift();
      const event = change && eventOf(change, kind, options);
      if (event !== undefined)
        yield options.metadataOnly === true ? { ...event, object: metadataOf(event.object) } : event;
      if (queue.length === 0 && !ended.aborted) await new Promise<void>(resolve => (wake = resolve));
    }
  } finally {
    storage.listeners.delete(onChange);
  }
  if (options.signal?.aborted === true) throw fault(0, 'Aborted');
}

/** What an apiserver returns of an object when only its metadata was asked for. */
export function metadataOf({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  return cloneJson({ apiVersion, kind, metadata });
}

/** What a watcher with these selectors sees of a change: leaving the selection is a DELETED. */
function eventOf(change: Change, kind: KindRef, options: WatchOptions): WatchEvent | undefined {
  const seen = (object: KubeObject | undefined): KubeObject | undefined =>
    object !== undefined && isOfKind(object, kind) && selects(object, options) ? object : undefined;
  const before = seen(change.before);
  const after = seen(change.after);
  if (after !== undefined)
    return { type: before === undefined ? 'ADDED' : 'MODIFIED', object: cloneJson(after) };
  if (before === undefined) return undefined;
  const last = cloneJson(change.after ?? before);
  last.metadata.resourceVersion = String(change.revision);
  return { type: 'DELETED', object: last };
}
