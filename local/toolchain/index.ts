import { rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createProgress, type Progress } from '../progress.ts';
import { artefactPath, install, isInstalled } from './cache.ts';
import { logFile } from './command.ts';
import { findSuitable } from './on-path.ts';
import { azuriteRecipe } from './azurite.ts';
import { postgresRecipe } from './postgres.ts';
import { prometheusRecipe, runtimeRecipe, temporalRecipe } from './packages.ts';
import { shellsRecipe } from './shells.ts';
import { goRecipes } from './programs.ts';
import type { Recipe } from './recipe.ts';
import { joinFailures, runJobs } from './scheduler.ts';
import { etcdVersions, kubernetesVersion, temporalVersion } from './versions.ts';

export { cacheDirectory } from './cache.ts';

const cniPlugins = 'cni-plugins';

const downloadsAtOnce = 3;

export type ToolName =
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-scheduler'
  | 'kubelet'
  | 'kube-proxy'
  | 'kubectl'
  | 'helm'
  | 'operator-verify'
  | 'olm-operator'
  | 'olm-crds'
  | 'catalog-operator'
  | 'opm'
  | 'local-provisioner'
  | 'coredns'
  | 'containerd'
  | 'ctr'
  | 'runc'
  | 'temporal'
  | 'temporal-server'
  | 'temporal-sql-tool'
  | 'postgres'
  | 'initdb'
  | 'psql'
  | 'prometheus'
  | 'promtool'
  | 'zsh'
  | 'fish'
  | 'versitygw'
  | 'fake-gcs-server'
  | 'azurite-blob'
  | `etcd@${string}`
  | `etcdctl@${string}`
  | `etcdutl@${string}`;

/** Where every program of the local stack lies. */
export interface Toolchain {
  /** The absolute path of a tool. Throws when it is unknown, or was left out by `only`. */
  path(tool: ToolName): string;
  /** The folder with the CNI plugins. */
  cniBinDir: string;
  /** Versions without `v`; of etcd those that are there. */
  versions: { kubernetes: string; etcd: readonly string[]; temporal: string; node: string };
}

export interface ToolchainOptions {
  /** Default: a view on standard error. */
  progress?: Progress;
  /**
   * Only these tools, and the CNI plugins when containerd is among them; default all that the stack is made of. What only tests
   * start is then not built, and is there when it was built before.
   */
  only?: ToolName[];
  /** These besides, of what is there only for those who name it. */
  also?: readonly ToolName[];
}

/**
 * Makes sure that every tool of the local stack is there, and says where. What the cache has is used; what
 * the machine has on PATH in the right version is used; the rest is built or fetched, side by side. Throws
 * when a build or download fails, with the last lines of its output, or when something must be installed first.
 */
export async function ensureToolchain(options: ToolchainOptions = {}): Promise<Toolchain> {
  if (process.platform !== 'linux') {
    throw new Error(
      `the local stack needs Linux, and this is ${process.platform}: use any Kubernetes cluster through KUBECONFIG instead`,
    );
  }
  const wanted = options.only === undefined ? undefined : new Set<string>(options.only);
  if (wanted?.has('containerd')) wanted.add(cniPlugins);
  const also = new Set<string>(options.also);
  const recipes = allRecipes();
  const paths = new Map<string, string>();
  const missing: Recipe[] = [];
  await Promise.all(
    recipes.map(async recipe => {
      if (wanted === undefined && isInstalled(recipe.artefact)) return addTools(paths, recipe);
      const tools = Object.keys(recipe.tools).filter(
        tool => also.has(tool) || (wanted?.has(tool) ?? !recipe.onlyForTests),
      );
      if (tools.length === 0) return;
      if (isInstalled(recipe.artefact)) return addTools(paths, recipe);
      const found = await Promise.all(tools.map(findSuitable));
      const onPath = found.filter(path => path !== undefined);
      if (onPath.length < tools.length) missing.push(recipe);
      else for (const [index, path] of onPath.entries()) paths.set(tools[index] ?? '', path);
    }),
  );
  if (missing.length > 0) await installAll(missing, options.progress);
  for (const recipe of missing) addTools(paths, recipe);
  return toolchain(paths, recipes);
}

/** The names of all tools, but for those that are there only when they are named. */
export function toolNames(): ToolName[] {
  return namesOf(allRecipes().filter(recipe => recipe.onlyByName !== true));
}

/** The names of all tools that can be asked for. */
export function allToolNames(): ToolName[] {
  return namesOf(allRecipes());
}

function namesOf(recipes: readonly Recipe[]): ToolName[] {
  return recipes.flatMap(recipe => Object.keys(recipe.tools).filter(isTool));
}

/** The CNI plugins are a folder, which `cniBinDir` names; everything else is a tool of its own. */
function isTool(name: string): name is ToolName {
  return name !== cniPlugins;
}

function allRecipes(): Recipe[] {
  return [
    ...goRecipes(),
    runtimeRecipe(),
    temporalRecipe(),
    prometheusRecipe(),
    shellsRecipe(),
    azuriteRecipe(),
    postgresRecipe(),
  ];
}

function addTools(paths: Map<string, string>, recipe: Recipe): void {
  for (const [tool, file] of Object.entries(recipe.tools)) {
    paths.set(tool, join(artefactPath(recipe.artefact), file));
  }
}

/** Installs artefacts side by side, with a step of the progress view for each. */
export async function installAll(recipes: readonly Recipe[], given?: Progress): Promise<void> {
  const progress = given ?? createProgress();
  progress.expect(recipes.length);
  const jobs = (downloads: boolean) =>
    recipes
      .filter(recipe => (recipe.download ?? false) === downloads)
      .map(recipe => ({ seconds: recipe.seconds, run: () => installOne(recipe, progress) }));
  try {
    const outcomes = await Promise.allSettled([
      runJobs(jobs(false), availableParallelism()),
      runJobs(jobs(true), downloadsAtOnce),
    ]);
    const failures = outcomes.filter(outcome => outcome.status === 'rejected').map(outcome => outcome.reason);
    if (failures.length > 0) throw joinFailures(failures);
  } finally {
    if (given === undefined) progress.close();
  }
}

function installOne(recipe: Recipe, progress: Progress): Promise<string> {
  const log = logFile(recipe.artefact.name);
  return progress.step(recipe.title, report => {
    const build = async (folder: string): Promise<void> => {
      await rm(log, { force: true });
      await recipe.build(folder, log, report);
    };
    return install(recipe.artefact, build, { onWait: report });
  });
}

function toolchain(paths: ReadonlyMap<string, string>, recipes: readonly Recipe[]): Toolchain {
  const known = recipes.flatMap(recipe => Object.keys(recipe.tools));
  return {
    path: tool => {
      const path = paths.get(tool);
      if (path !== undefined) return path;
      if (known.includes(tool))
        throw new Error(`the tool ${tool} was not asked for when the toolchain was ensured`);
      throw new Error(`the toolchain has no tool ${tool}; it has ${known.join(', ')}`);
    },
    cniBinDir: paths.get(cniPlugins) ?? '',
    versions: {
      kubernetes: kubernetesVersion,
      etcd: etcdVersions.filter(version => paths.has(`etcd@${version}`)),
      temporal: temporalVersion,
      node: process.versions.node,
    },
  };
}
