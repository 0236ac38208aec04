import { describe, expect, test } from 'vitest';
import { checkImports, checkJudges, checkTools } from '../../scripts/import-rules.ts';
import { importsOf } from '../../scripts/imports.ts';

const check = (files: Record<string, string>): string[] =>
  checkImports(new Map(Object.entries(files))).map(
    ({ file, line, message }) => `${file}:${line}: ${message}`,
  );

/** One row a folder and thing it may not import; each must be refused. */
const forbidden: readonly [file: string, source: string, target: string][] = [
  ['src/api/types.ts', `import { z } from 'zod';`, 'zod'],
  ['src/api/types.ts', `import { readFileSync } from 'node:fs';`, 'node:fs'],
  ['src/api/types.ts', `import { decide } from '../planner/decide.ts';`, 'src/planner/decide.ts'],
  ['src/api/cluster.schema.ts', `import pino from 'pino';`, 'pino'],
  ['src/planner/create.ts', `import { spec } from '../api/cluster.schema.ts';`, 'src/api/cluster.schema.ts'],
  ['src/planner/create.ts', `import { createHash } from 'node:crypto';`, 'node:crypto'],
  ['src/planner/create.ts', `import { KubeClient } from '../kube/client.ts';`, 'src/kube/client.ts'],
  ['src/planner/create.ts', `import { etcd } from '../etcd/adapter.ts';`, 'src/etcd/adapter.ts'],
  ['src/planner/create.ts', `import { sleep } from '@temporalio/workflow';`, '@temporalio/workflow'],
  ['src/objects/pod.ts', `import { spec } from '../api/cluster.schema.ts';`, 'src/api/cluster.schema.ts'],
  ['src/objects/pod.ts', `import { Buffer } from 'node:buffer';`, 'node:buffer'],
  ['src/objects/pod.ts', `import { decide } from '../planner/decide.ts';`, 'src/planner/decide.ts'],
  ['src/objects/pod.ts', `import { heartbeat } from '@temporalio/activity';`, '@temporalio/activity'],
  ['src/workflows/entity.ts', `import { decide } from '../planner/decide.ts';`, 'src/planner/decide.ts'],
  ['src/workflows/entity.ts', `import { pod } from '../objects/pod.ts';`, 'src/objects/pod.ts'],
  [
    'src/workflows/entity.ts',
    `import { assess } from '../activities/assess.ts';`,
    'src/activities/assess.ts',
  ],
  ['src/workflows/entity.ts', `import { Client } from '@temporalio/client';`, '@temporalio/client'],
  ['src/workflows/entity.ts', `import { randomUUID } from 'node:crypto';`, 'node:crypto'],
  ['src/workflows/entity.ts', `import { open } from '../store/s3.ts';`, 'src/store/s3.ts'],
  [
    'src/workflows/entity.ts',
    `import { spec } from '../api/cluster.schema.ts';`,
    'src/api/cluster.schema.ts',
  ],
  ['src/etcd/adapter.ts', `import { KubeClient } from '../kube/client.ts';`, 'src/kube/client.ts'],
  ['src/etcd/adapter.ts', `import { Client } from '@temporalio/client';`, '@temporalio/client'],
  ['src/kube/client.ts', `import { etcd } from '../etcd/adapter.ts';`, 'src/etcd/adapter.ts'],
  ['src/kube/client.ts', `import { heartbeat } from '@temporalio/activity';`, '@temporalio/activity'],
  ['src/kube/client.ts', `import { decide } from '../planner/decide.ts';`, 'src/planner/decide.ts'],
  ['src/store/s3.ts', `import { KubeClient } from '../kube/client.ts';`, 'src/kube/client.ts'],
  ['src/store/s3.ts', `import { Client } from '@temporalio/client';`, '@temporalio/client'],
  ['src/activities/assess.ts', `import { entity } from '../workflows/entity.ts';`, 'src/workflows/entity.ts'],
  [
    'src/activities/assess.ts',
    `import { changed } from '../workflows/messages/resource.ts';`,
    'src/workflows/messages/resource.ts',
  ],
  ['src/activities/assess.ts', `import { queue } from '../watcher/queue.ts';`, 'src/watcher/queue.ts'],
  ['src/activities/assess.ts', `import { sleep } from '@temporalio/workflow';`, '@temporalio/workflow'],
  ['src/watcher/watcher.ts', `import { decide } from '../planner/decide.ts';`, 'src/planner/decide.ts'],
  ['src/watcher/watcher.ts', `import { assess } from '../activities/assess.ts';`, 'src/activities/assess.ts'],
  ['src/watcher/watcher.ts', `import { etcd } from '../etcd/adapter.ts';`, 'src/etcd/adapter.ts'],
  ['src/watcher/watcher.ts', `import { entity } from '../workflows/entity.ts';`, 'src/workflows/entity.ts'],
  ['src/telemetry/logger.ts', `import { decide } from '../planner/decide.ts';`, 'src/planner/decide.ts'],
  ['src/telemetry/logger.ts', `import { KubeClient } from '../kube/client.ts';`, 'src/kube/client.ts'],
  ['src/main/operator.ts', `import { poll } from '../../test/stack/poll.ts';`, 'test/stack/poll.ts'],
  ['src/main/operator.ts', `import { root } from '../../scripts/run.ts';`, 'scripts/run.ts'],
  ['src/plugin/run.ts', `import { Client } from '@temporalio/client';`, '@temporalio/client'],
  ['src/plugin/run.ts', `import { entity } from '../workflows/entity.ts';`, 'src/workflows/entity.ts'],
  ['src/watcher/watcher.ts', `import { run } from '../plugin/run.ts';`, 'src/plugin/run.ts'],
  ['src/newfolder/x.ts', `import { z } from 'zod';`, 'zod'],
];

describe('what the table forbids', () => {
  test.each(forbidden)('%s may not: %s', (file, source, target) => {
    expect(check({ [file]: source })).toEqual([
      `${file}:1: import of ${target} is not allowed in src/${file.split('/')[1]}`,
    ]);
  });

  test('a type where not even types are allowed', () => {
    expect(check({ 'src/planner/x.ts': `import type { KubeClient } from '../kube/port.ts';` })).toEqual([
      'src/planner/x.ts:1: import type of src/kube/port.ts is not allowed in src/planner',
    ]);
  });

  test.each([
    `export { assess } from '../activities/assess.ts';`,
    `export * from '../activities/assess.ts';`,
    `import '../activities/assess.ts';`,
    `const { assess } = await import('../activities/assess.ts');`,
    `const { assess } = require('../activities/assess.ts');`,
    `import { type Activities } from '../activities/assess.ts';`,
    `import {\n  type Activities,\n  assess,\n} from '../activities/assess.ts';`,
  ])('however it is written: %s', source => {
    expect(check({ 'src/workflows/entity.ts': source })).toEqual([
      'src/workflows/entity.ts:1: import of src/activities/assess.ts is not allowed in src/workflows',
    ]);
  });

  test('what is only reached through another file', () => {
    const files = {
      'src/planner/create.ts': `import { group } from '../api/names.ts';`,
      'src/api/names.ts': `import { spec } from './cluster.schema.ts';`,
      'src/api/cluster.schema.ts': `import { z } from 'zod';`,
    };
    expect(check(files)).toEqual([
      'src/planner/create.ts:1: reaches zod through src/api/names.ts > src/api/cluster.schema.ts',
    ]);
  });
});

describe('what the table allows', () => {
  test.each([
    ['src/api/cluster.schema.ts', `import { z } from 'zod';`],
    ['src/planner/create.ts', `import { group } from '../api/names.ts';`],
    ['src/planner/create.ts', `import type { Cluster } from '../api/cluster.schema.ts';`],
    ['src/planner/create.ts', `import { quorum } from './quorum.ts';`],
    ['src/workflows/entity.ts', `import type { Activities } from '../activities/index.ts';`],
    ['src/activities/assess.ts', `import type { Changed } from '../workflows/messages/resource.ts';`],
    ['src/activities/poll.ts', `import { setTimeout } from 'node:timers/promises';`],
    ['src/activities/assess.ts', `import { decide } from '../planner/decide.ts';`],
    ['src/watcher/watcher.ts', `import { changedSignal } from '../workflows/messages/resource.ts';`],
    ['src/telemetry/logger.ts', `import { pino } from 'pino';`],
    ['src/main/operator.ts', `import { createWatcher } from '../watcher/index.ts';`],
  ])('%s: %s', (file, source) => {
    expect(check({ [file]: source })).toEqual([]);
  });

  test('the plugin loads the client of Temporal for a report, and not before', () => {
    const client = 'src/plugin/report/histories/temporal.ts';
    const filesWith = (source: string) => ({
      'src/plugin/run.ts': source,
      [client]: `import { Connection } from '@temporalio/client';`,
    });
    expect(check(filesWith(`const it = await import('./report/histories/temporal.ts');`))).toEqual([]);
    expect(check(filesWith(`import { it } from './report/histories/temporal.ts';`))).toEqual([
      `src/plugin/run.ts:1: reaches @temporalio/client through ${client}`,
    ]);
  });

  test('a chain that ends in a type', () => {
    const files = {
      'src/planner/create.ts': `import { group } from '../api/names.ts';`,
      'src/api/names.ts': `import type { Spec } from './cluster.schema.ts';`,
      'src/api/cluster.schema.ts': `import { z } from 'zod';`,
    };
    expect(check(files)).toEqual([]);
  });
});

describe('scripts and the local stack', () => {
  test.each([
    ['scripts/build.ts', `import { poll } from '../test/stack/poll.ts';`, 'test/stack/poll.ts'],
    ['scripts/simulate.ts', `import { pod } from '../test/kube/support.ts';`, 'test/kube/support.ts'],
    ['scripts/reference/x.ts', `import { main } from '../../local/main.ts';`, 'local/main.ts'],
    [
      'local/main.ts',
      `import type { Config } from '../src/main/config/config.ts';`,
      'src/main/config/config.ts',
    ],
  ])('%s may not: %s', (file, source, target) => {
    expect(checkTools(new Map([[file, source]]))).toEqual([
      { file, line: 1, message: `import of ${target} is not allowed in ${file}` },
    ]);
  });

  test.each([
    ['scripts/build.ts', `import { join } from 'node:path';`],
    ['scripts/build.ts', `import { bundle } from '../src/main/temporal/workflow-bundle.ts';`],
    ['scripts/bench/fleet.ts', `import { poll } from '../../test/stack/poll.ts';`],
    ['scripts/histories/long.ts', `import { world } from '../../test/worlds/world.ts';`],
    ['local/nodes/main.ts', `import { run } from '../toolchain/run.ts';`],
  ])('%s may: %s', (file, source) => {
    expect(checkTools(new Map([[file, source]]))).toEqual([]);
  });
});

test('lines are counted and other exports are not imports', () => {
  const source = [
    `/** An example: import { x } from 'y' is prose here. */`,
    `export const name = 'zod';`,
    `import type { A } from './a.ts';`,
    `export async function f(): Promise<string> {`,
    `  return 'pino';`,
    `}`,
    `export type B = 'from' | 'to';`,
    `import b, { c } from './b.ts';`,
    `export * as d from './d.ts';`,
  ].join('\n');
  expect(importsOf(source)).toEqual([
    { specifier: './a.ts', typeOnly: true, isCall: false, line: 3 },
    { specifier: './b.ts', typeOnly: false, isCall: false, line: 8 },
    { specifier: './d.ts', typeOnly: false, isCall: false, line: 9 },
  ]);
});

describe('judges of the simulation', () => {
  test('reach the planner neither directly nor through what they use, but for its types', () => {
    const judge = 'test/simulation/oracle.ts';
    const sources = (text: string) =>
      new Map([
        [judge, text],
        ['test/simulation/helper.ts', "import { plan } from '../../src/planner/plan.ts';"],
      ]);
    expect(checkJudges(sources("import type { Step } from '../../src/planner/decision.ts';"))).toEqual([]);
    expect(checkJudges(sources("import { help } from './helper.ts';"))).toEqual([
      {
        file: judge,
        line: 1,
        message: 'judges the operator, and reaches test/simulation/helper.ts > src/planner/plan.ts',
      },
    ]);
  });
});
