/** What runs in the workflow sandbox: small, and free of everything whose change would break a replay. */
import { beforeAll, describe, expect, it } from 'vitest';
import { bundleOfWorkflows } from '../worlds/workflow-bench.ts';

let code = '';
let modules: readonly string[] = [];
beforeAll(async () => {
  code = await bundleOfWorkflows();
  // How webpack names the modules of a bundle that is not minified.
  modules = [...code.matchAll(/^\/\*{3}\/ "\.\/([^"]+)"/gm)].map(([, path = '']) => path);
}, 60_000);

describe('the workflow bundle', () => {
  it('contains the workflows, and no planner or activity', () => {
    const own = modules.filter(path => path.startsWith('src/'));
    expect(own).toContain('src/workflows/etcd-cluster.ts');
    expect(own.filter(path => !/^src\/(workflows|api)\//.test(path))).toEqual([]);
    expect(own.filter(path => path.endsWith('.schema.ts'))).toEqual([]);
  });

  it('contains no library but the SDK and its dependencies', () => {
    const libraries = modules.flatMap(path => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []);
    expect([...new Set(libraries)].sort()).toEqual(
      expect.arrayContaining(['@temporalio/common', '@temporalio/workflow']),
    );
    const known =
      /^(@temporalio\/(common|workflow|worker)|nexus-rpc|ms|long|webpack|assert|url|util|events)$/;
    expect([...new Set(libraries)].filter(name => !known.test(name))).toEqual([]);
  });

  it('is small enough to be compiled for every worker', () => {
    expect(code.length).toBeLessThan(3_000_000);
  });
});
