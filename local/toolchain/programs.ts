import { join } from 'node:path';
import { goRecipe } from './go.ts';
import type { Recipe } from './recipe.ts';
import {
  corednsVersion,
  etcdToolSubstitutes,
  etcdVersions,
  etcdVersionsOfTests,
  helmVersion,
  kubernetesVersion,
  olmVersion,
  operatorFrameworkVersion,
  operatorRegistryVersion,
  temporalServerVersion,
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
  return [
    kubeRecipe(),
    corednsRecipe(),
    helmRecipe(),
    operatorVerifyRecipe(),
    ...etcdVersions.map(etcdRecipe),
    ...storeRecipes(),
    temporalServerRecipe(),
    ...olmRecipes(),
  ];
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

/** For the tests of the chart. */
function helmRecipe(): Recipe {
  const [major, minor] = kubernetesVersion.split('.');
  const variables: Record<string, string> = { 'helm.sh/helm/v3/internal/version.version': `v${helmVersion}` };
  // What charts are rendered and linted for when there is no server to ask; without these it is 1.20.
  for (const module of ['helm.sh/helm/v3/pkg/chartutil', 'helm.sh/helm/v3/pkg/lint/rules']) {
    variables[`${module}.k8sVersionMajor`] = `${major}`;
    variables[`${module}.k8sVersionMinor`] = `${minor}`;
  }
  return goRecipe({
    name: `helm-${helmVersion}`,
    title: `build Helm ${helmVersion}`,
    seconds: 90,
    module: 'helm',
    package: 'helm.sh/helm/v3/cmd/helm',
    binary: 'helm',
    variables,
    onlyForTests: true,
    tools: { helm: 'helm' },
  });
}

/** For the test of the bundle: the checks of OLM and OperatorHub. */
function operatorVerifyRecipe(): Recipe {
  return goRecipe({
    name: `operator-verify-${operatorFrameworkVersion}`,
    title: 'build operator-verify',
    seconds: 40,
    module: 'operator-verify',
    binary: 'operator-verify',
    onlyForTests: true,
    tools: { 'operator-verify': 'operator-verify' },
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

/** The server that production runs, for a database of its own; everything else uses the development server. */
function temporalServerRecipe(): Recipe {
  return goRecipe({
    name: `temporal-server-${temporalServerVersion}`,
    title: `build Temporal server ${temporalServerVersion}`,
    seconds: 300,
    module: 'temporal-server',
    binary: 'temporal-server',
    links: ['temporal-sql-tool'],
    onlyForTests: true,
    onlyByName: true,
    tools: { 'temporal-server': 'temporal-server', 'temporal-sql-tool': 'temporal-sql-tool' },
  });
}

/** For the drill of the bundle: the two operators of OLM with its own CRDs, and the server of a catalog. */
function olmRecipes(): Recipe[] {
  const olm = 'github.com/operator-framework/operator-lifecycle-manager';
  const shared = { module: 'olm', onlyForTests: true, onlyByName: true } as const;
  return [
    goRecipe({
      ...shared,
      name: `olm-operator-${olmVersion}`,
      title: `build OLM's olm-operator ${olmVersion}`,
      seconds: 300,
      package: `${olm}/cmd/olm`,
      binary: 'olm-operator',
      variables: { [`${olm}/pkg/version.OLMVersion`]: olmVersion },
      folders: { 'olm-crds': { module: olm, folder: 'deploy/chart/crds' } },
      tools: { 'olm-operator': 'olm-operator' },
    }),
    goRecipe({
      ...shared,
      name: `olm-catalog-operator-${olmVersion}`,
      title: `build OLM's catalog-operator ${olmVersion}`,
      seconds: 290,
      package: `${olm}/cmd/catalog`,
      binary: 'catalog-operator',
      variables: { [`${olm}/pkg/version.OLMVersion`]: olmVersion },
      tools: { 'catalog-operator': 'catalog-operator' },
    }),
    goRecipe({
      ...shared,
      name: `opm-${operatorRegistryVersion}`,
      title: `build opm ${operatorRegistryVersion}`,
      seconds: 280,
      package: 'github.com/operator-framework/operator-registry/cmd/opm',
      binary: 'opm',
      // As its Makefile says: signatures of images without a C library.
      tags: ['json1', 'containers_image_openpgp'],
      tools: { opm: 'opm' },
    }),
  ];
}
