/** The twelve questions of docs/operations/kubectl-etcd.md: what the page says is typed, with kubectl and with the plugin, and answered. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BackupStory } from '../../stack/backup-story.ts';
import { ASKING_FOR_CPU } from '../../stack/drill/drilled.ts';
import { Shell } from '../../stack/drill/shell.ts';
import { awaitCondition, awaitRunning, manifest, podsOf, readCluster, type World } from '../../stack/e2e.ts';
import { useNamespace } from '../../stack/e2e-namespace.ts';
import { poll } from '../../stack/poll.ts';

/** The page calls its cluster so. */
const at = { namespace: 'drill-questions', name: 'example' };
const WAIT = { timeoutMs: 240_000 };
const PAGE = readFileSync(new URL('../../../docs/operations/kubectl-etcd.md', import.meta.url), 'utf8');

const SPEC = {
  size: 3,
  version: '3.6.16',
  pod: ASKING_FOR_CPU,
  // Nothing is replaced without a person.
  repair: { replaceAfterSeconds: 20, maxReplacementsPerHour: 0 },
} as const;

let world: World;
let shell: Shell;
let folder: string;
const untried = new Set<string>();

/** Question to the commands of both columns. */
const questions = new Map(
  [...PAGE.matchAll(/^\| ([A-Z][^|]*[.?]) \| (.*) \| (`kubectl etcd [^|]*`) \| .* \|$/gm)].map(
    ([, question = '', kubectl = '', plugin = '']) => [
      question,
      { kubectl: commandsOf(kubectl), plugin: commandsOf(plugin) },
    ],
  ),
);
const FUNCTION = /^ask\(\) \{\n.*?^\}$/ms.exec(PAGE)?.[0] ?? '';

function commandsOf(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, command = '']) => command);
}

/** Types what answers a question in one way, and gives what it printed. `change`: what a reader puts in the place of the examples. */
async function type(
  question: string,
  way: 'kubectl' | 'plugin',
  change: (line: string) => string = line => line,
): Promise<string> {
  const lines = questions.get(question)?.[way];
  if (lines === undefined) throw new Error(`the page has no question "${question}"`);
  untried.delete(`${question} ${way}`);
  // A person would be asked whether to send it.
  const sent = /etcd (pause|resume|approve|abort|replace|backup) /.test(lines.join()) ? ' --yes' : '';
  const commands = lines.map(line => change(`${line}${sent}`)).join('\n');
  return shell.run(`${FUNCTION}\n${commands}`);
}

useNamespace(at.namespace, opened => void (world = opened));

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'questions-'));
  shell = new Shell(world, at.namespace);
  for (const question of questions.keys())
    for (const way of ['kubectl', 'plugin']) untried.add(`${question} ${way}`);
  await world.kube.apply(manifest(at.namespace, at.name, SPEC));
  await world.kube.apply({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace: at.namespace, name: 'backups' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  } as Parameters<World['kube']['apply']>[0]);
  await awaitRunning(world, at);
  const story = new BackupStory(world, at.namespace);
  await story.apply('EtcdBackup', 'nightly', {
    clusterRef: { name: at.name },
    storageType: 'File',
    file: { claim: 'backups', path: 'nightly' },
    backupPolicy: { backupIntervalInSecond: 86_400, maxBackups: 9 },
  });
  await story.backedUp('nightly');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function condition(name: string) {
  const cluster = await readCluster(world, at.namespace, at.name);
  return cluster?.status?.conditions?.find(one => one.type === name);
}
const awaited = async () => (await readCluster(world, at.namespace, at.name))?.status?.awaitedApproval;
const uids = async () =>
  new Map((await podsOf(world, at.namespace, at.name)).map(({ metadata }) => [metadata.name, metadata.uid]));

test('there are twelve, with at most two commands each', () => {
  expect(questions.size).toBe(12);
  for (const { kubectl, plugin } of questions.values()) {
    expect([1, 2]).toContain(kubectl.length);
    expect(plugin).toHaveLength(1);
  }
});

describe.each(['kubectl', 'plugin'] as const)('with %s', way => {
  test('what it does, and what comes next, is answered for a cluster at rest', async () => {
    expect(await type('What is it doing?', way)).toContain('Running');
    expect(await type('Why is it waiting?', way)).toMatch(/specification/);
    expect(await type('What next?', way)).toMatch(way === 'plugin' ? /nothing/i : /^$/);
  });

  test('the cluster is paused and resumed', async () => {
    await type('Stop.', way);
    await awaitCondition(world, at, { type: 'Paused' });
    await type('Go on.', way);
    await poll(async () => (await condition('Paused'))?.status !== 'True', WAIT);
  });

  test('undo: a change that runs is aborted', async () => {
    await world.kube.apply(manifest(at.namespace, at.name, { ...SPEC, size: 4 }));
    await poll(async () => {
      const cluster = await readCluster(world, at.namespace, at.name);
      return cluster?.status?.operation !== undefined;
    }, WAIT);
    await type('Undo.', way);
    await poll(
      async () => (await readCluster(world, at.namespace, at.name))?.status?.operation === undefined,
      WAIT,
    );
    await world.kube.apply(manifest(at.namespace, at.name, SPEC));
    await awaitCondition(world, at, { type: 'Healthy', timeoutMs: 240_000 });
    await poll(async () => (await uids()).size === 3, WAIT);
  });

  test('a lost member is replaced once a person accepts it', async () => {
    const [member = ''] = (await uids()).keys();
    for (const kind of ['pvc', 'pod'])
      await world.stack.kubectl('-n', at.namespace, 'delete', kind, member, '--wait=false');
    const approval = await poll(async () => await awaited(), WAIT);
    expect(approval.operation).toBe('replaceMember');
    expect(await type('Why is it waiting?', way)).toContain(approval.ids[0]);
    const [id = ''] = approval.ids;
    const asExplained = (line: string) =>
      way === 'kubectl' ? line.replace('8e9e05c5', id) : `${line} --operation replaceMember --id ${id}`;
    await type('Yes, I accept this.', way, asExplained);
    await poll(async () => (await uids()).size === 3 && !(await uids()).has(member), WAIT);
    await awaitCondition(world, at, { type: 'Healthy', timeoutMs: 240_000 });
  });

  test('a member is replaced, and who asked stands in the history', async () => {
    const member = [...(await uids()).keys()].at(-1) ?? '';
    await type('Replace that member.', way, line => line.replace('example-1', member));
    await poll(async () => !(await uids()).has(member), WAIT);
    await awaitCondition(world, at, { type: 'Healthy', timeoutMs: 240_000 });
    const reported = await poll(async () => {
      const text = await type('What happened last night, and who asked?', way);
      return text.includes('replaceMember') && text;
    }, WAIT);
    const who = (await shell.run("kubectl auth whoami -o jsonpath='{.status.userInfo.username}'")).trim();
    expect(reported).toContain(who);
  });

  test('a backup is made, and is known to be good', async () => {
    const story = new BackupStory(world, at.namespace);
    const before = (await story.backup('nightly'))?.status?.history?.length ?? 0;
    await type('Backup now.', way);
    await poll(async () => ((await story.backup('nightly'))?.status?.history?.length ?? 0) > before, WAIT);
    expect(await type('Is my backup good?', way)).toMatch(way === 'plugin' ? /is good/ : /verified/);
  });
});

test('kubectl gathers what support needs', async () => {
  expect(await type('What do I send to support?', 'kubectl')).toMatch(/kind: EtcdCluster[^]*example-/);
});

test('the plugin gathers what support needs, histories included', async () => {
  // Temporal of the stack lies outside of its Kubernetes.
  const file = join(folder, 'report.tar.gz');
  const flags = `--to ${file} --temporal-address $TEMPORAL_ADDRESS`;
  const said = await type('What do I send to support?', 'plugin', line => `${line} ${flags}`);
  expect(said).not.toContain('not contained: workflows');
  const names = execFileSync('tar', ['-tzf', file], { encoding: 'utf8' });
  expect(names).toMatch(/workflows\/cluster-/);
  expect(names).toMatch(/workflows\/replaceMember-/);
});

test('no command of the page is left out', () => {
  expect([...untried]).toEqual([]);
});
