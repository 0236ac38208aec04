/** What a failed call to the API server means to the person who typed the command. Pure. */
import { GROUP } from '../api/names.ts';
import { KubeError } from '../kube/errors.ts';
import { EXIT } from './exit-codes.ts';
import { Failure, failure } from './failure.ts';
import { quoted } from './views/command-lines.ts';

/** What RBAC answers (k8s.io/apiserver, authorization errors): who may not do what, and where. */
const RBAC =
  /User "(?<user>[^"]*)" cannot (?<verb>\S+) resource "(?<resource>[^"]*)"(?: in API group "[^"]*")?(?: in the namespace "(?<namespace>[^"]*)")?/;

/** @param error of a call; what is none of the API server's is returned as it is */
export function explainKubeError(error: unknown): unknown {
  if (!(error instanceof KubeError)) return error;
  const said = serverSaid(error);
  if (error.code === 403) return forbidden(said);
  if (error.code === 401) {
    return failure(
      'the API server does not accept your credentials',
      'Log in again; kubectl auth whoami must print your user name.',
    );
  }
  if (error.code === 404) return kindsMissing();
  if (error.code === 400 || error.code === 422)
    return new Failure(EXIT.refused, `the API server refuses the request: ${said}`);
  if (error.reason === 'Credentials') return failure(error.message, 'Check with: kubectl auth whoami');
  if (error.code === 0) return unreachable(error);
  return failure(`the API server failed: ${said}`, 'Try again; it may pass.');
}

/** Whether it passes by itself: the API server, or the way to it, is away. What waits asks again. */
export function isPassing(error: unknown): error is KubeError {
  if (!(error instanceof KubeError) || error.reason === 'Credentials') return false;
  return error.code === 0 || error.code === 429 || error.code >= 500;
}

/** Without method and path, which stand before it. */
function serverSaid({ message }: KubeError): string {
  return message.replace(/^[A-Z]+ \/\S*: (\d+ [A-Za-z]+: )?/, '');
}

/** Of these nothing lies in a namespace. */
const OF_THE_CLUSTER = ['nodes', 'persistentvolumes', 'storageclasses'];

/** Such as `ana may not get pods/proxy in namespace shop`; undefined for a text that is not about a missing right. */
export function missingRight(said: string): string | undefined {
  const found = RBAC.exec(said)?.groups;
  if (found === undefined) return undefined;
  const { user = '', verb = '', resource = '', namespace } = found;
  const where = namespace === undefined ? 'in all namespaces' : `in namespace ${namespace}`;
  return `${user} may not ${verb} ${resource} ${where}`;
}

function forbidden(said: string): Failure {
  const found = RBAC.exec(said)?.groups;
  if (found === undefined) return new Failure(EXIT.refused, `the API server refuses the request: ${said}`);
  const { user = '', verb = '', resource = '', namespace } = found;
  if (OF_THE_CLUSTER.includes(resource)) {
    return new Failure(EXIT.forbidden, `${user} may not ${verb} ${resource}, which lie in no namespace`, [
      'Ask an administrator for:',
      `kubectl create clusterrole read-${resource} --verb=get,list --resource=${resource}`,
      grant(user, `read-${resource}`, namespace),
    ]);
  }
  const role = roleFor(verb, resource);
  return new Failure(EXIT.forbidden, missingRight(said) ?? said, [
    `It takes the ClusterRole ${role}. Ask an administrator for:`,
    grant(user, role, namespace),
    ...(namespace === undefined ? ['Or look at one namespace: -n NAMESPACE instead of -A.'] : []),
  ]);
}

/** The role of deploy/users, or of Kubernetes itself, that has the right and no more than it takes. */
function roleFor(verb: string, resource: string): string {
  const isLook = verb === 'get' || verb === 'list';
  if (!resource.startsWith('etcd')) return isLook ? 'view' : 'edit';
  if (isLook) return 'etcd-viewer';
  return resource === 'etcdrequests' ? 'etcd-operator-user' : 'etcd-admin';
}

function grant(user: string, role: string, namespace: string | undefined): string {
  const name = `${role}-of-${user}`.toLowerCase().replaceAll(/[^a-z0-9-]+/g, '-');
  const to = [`--clusterrole=${role}`, `--user=${quoted(user)}`];
  return namespace === undefined
    ? ['kubectl create clusterrolebinding', name, ...to].join(' ')
    : ['kubectl create rolebinding', name, '-n', namespace, ...to].join(' ');
}

function kindsMissing(): Failure {
  return failure(
    `the API server does not know the kinds of ${GROUP}: the operator is not installed there, or is an older one`,
    'Check with: kubectl api-resources --api-group=etcd.database.coreos.com',
    'Install it, or choose another cluster with --context.',
  );
}

function unreachable(error: KubeError): Failure {
  const advice = [
    'Check the network and the server of the context: kubectl config view --minify',
    ...(error.notProcessed || error.message.startsWith('GET')
      ? []
      : ['It is not known whether the request was created: look with kubectl etcd requests.']),
  ];
  const what = error.reason === 'Timeout' ? 'does not answer in time' : 'cannot be reached';
  return failure(`the API server ${what}: ${serverSaid(error)}`, ...advice);
}
