import { join } from 'node:path';
import { goRecipe } from './go.ts';
import type { Recipe } from './recipe.ts';
import {
  corednsVersion,
  etcdToolSubstitutes,
  etcdVersions,
  etcdVersionsOfTests,
  kubernetesVersion,
} from './versions.ts';

const kubePrograms = [
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubelet',
  'kube-proxy',
  'kubectl',
  'local-provisioner',
] as const;

/** Everything that is built from Go sources, except what only images need. */
export function goRecipes(): Recipe[] {
  return [kubeRecipe(), corednsRecipe(), ...etcdVersions.map(etcdRecipe), ...storeRecipes()];
}

/** Kubernetes' programs and the volume provisioner, in one binary. */
function kubeRecipe(): Recipe {
  const [major, minor] = kubernetesVersion.split('.');
  const variables: Record<string, string> = {};
  for (const module of ['k8s.io/client-go/pkg/version', 'k8s.io/component-base/version']) {
    variables[`${module}.gitVersion`] = `v${kubernetesVersion}`;
    variables[`${module}.gitMajor`] = `${major}`;
    variables[`${module}.gitMinor`] = `${minor}`;
    variables[`${module}.gitTreeState`] = 'clean';
  }
  return goRecipe({
    name: `kube-${kubernetesVersion}`,
    title: `build Kubernetes ${kubernetesVersion}`,
    seconds: 400,
    module: 'kube',
    binary: 'kube',
    links: kubePrograms,
    variables,
    tools: Object.fromEntries(kubePrograms.map(name => [name, name])),
  });
}

function corednsRecipe(): Recipe {
  return goRecipe({
    name: `coredns-${corednsVersion}`,
    title: `build CoreDNS ${corednsVersion}`,
    seconds: 80,
    module: 'coredns',
    binary: 'coredns',
    tools: { coredns: 'coredns' },
  });
}

function etcdRecipe(version: string): Recipe {
  const tools: Record<string, string> = { [`etcd@${version}`]: 'etcd' };
  const complete = etcdToolSubstitutes[version] === undefined;
  const served = complete ? [version] : [];
  for (const [other, substitute] of Object.entries(etcdToolSubstitutes)) {
    if (substitute === version) served.push(other);
  }
  for (const name of ['etcdctl', 'etcdutl']) for (const user of served) tools[`${name}@${user}`] = name;
  return goRecipe({
    name: `etcd-${version}`,
    title: `build etcd ${version}`,
    seconds: 45,
    module: join('etcd', version),
    binary: 'etcd',
    links: complete ? ['etcdctl', 'etcdutl'] : [],
    onlyForTests: etcdVersionsOfTests.includes(version),
    tools,
  });
}

/** The program of the pause image. */
export function pauseRecipe(): Recipe {
  return goRecipe({
    name: 'pause',
    title: 'build pause',
    seconds: 5,
    module: 'pause',
    binary: 'pause',
    tools: {},
  });
}

/** Servers of object stores, each with its own name as the tool. */
function storeRecipes(): Recipe[] {
  const recipe = (name: string, title: string): Recipe =>
    goRecipe({
      name,
      title,
      seconds: 120,
      module: name,
      binary: name,
      onlyForTests: true,
      tools: { [name]: name },
    });
  return [recipe('versitygw', 'build VersityGW (S3)'), recipe('fake-gcs-server', 'build fake-gcs-server')];
}
