import { expect, it, vi } from 'vitest';
import type { KubeObject } from '../../src/kube/port.ts';
import { Reflector } from '../../src/kube/reflector.ts';
import { openBench, pod, podRef, pods } from './support.ts';

it('a reflector shows who manages an object only when a watch reports that it was made', async () => {
  const bench = await openBench();
  const managedFields = [{ manager: 'x' }];
  const seed = (name: string): void => {
    const made = pod(name);
    bench.server.kube.seed({ ...made, metadata: { ...made.metadata, managedFields } });
  };
  const shown: string[] = [];
  const slim = (object: KubeObject): KubeObject => {
    shown.push(`${object.metadata.name} ${JSON.stringify(object.metadata.managedFields)}`);
    return object;
  };
  seed('a');
  const reflector = new Reflector({ client: bench.client, kind: pods, slim });
  reflector.subscribe({});
  reflector.start();
  try {
    await vi.waitFor(() => expect(bench.server.openWatches).toBe(1), { timeout: 20_000 });
    seed('b');
    const label = { metadata: { labels: { x: 'y' } } };
    await bench.server.kube.patch(podRef('b'), label, { type: 'merge' });
    await vi.waitFor(() => expect(shown).toHaveLength(3), { timeout: 20_000 });
    expect(shown).toEqual(['a undefined', 'b [{"manager":"x"}]', 'b undefined']);
    expect(reflector.store.get('default', 'b')?.metadata).not.toHaveProperty('managedFields');
  } finally {
    await reflector.stop();
    await bench.close();
  }
});
