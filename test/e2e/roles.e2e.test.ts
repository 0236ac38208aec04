/** The roles for users of deploy/users, with the controller-manager that aggregates them into those of Kubernetes itself. */
import { beforeAll, describe, expect, test } from 'vitest';
import { API_VERSION, GROUP } from '../../src/api/names.ts';
import type { World } from '../stack/e2e.ts';
import { useNamespace } from '../stack/e2e-namespace.ts';
import { poll } from '../stack/poll.ts';
import { rawText } from '../stack/raw-api.ts';

const NAMESPACE = 'e2e-roles';
let world: World;
useNamespace(NAMESPACE, opened => void (world = opened));

/** A verb, a resource and perhaps a subresource of it. */
type Action = readonly [verb: string, resource: string, subresource: string];

const SPECIFIED = ['etcdclusters', 'etcdbackups', 'etcdrestores'];
const KINDS = [...SPECIFIED, 'etcdrequests'];
const all = (verbs: readonly string[], resources: readonly string[], subresource = ''): Action[] =>
  verbs.flatMap(verb => resources.map((resource): Action => [verb, resource, subresource]));

const LOOKING = all(['get', 'list', 'watch'], KINDS);
const ASKING = all(['create', 'delete'], ['etcdrequests']);
const CHANGING = [
  ...all(['create', 'update', 'patch', 'delete'], SPECIFIED),
  ...all(['get', 'update', 'patch'], ['etcdclusters'], 'scale'),
];
const FORBIDDEN = [
  ...all(['update', 'patch'], KINDS, 'status'),
  ...all(['update', 'patch'], ['etcdrequests']),
];
const EVERYTHING = [...LOOKING, ...ASKING, ...CHANGING, ...FORBIDDEN];

async function may(user: string, namespace: string, [verb, resource, subresource]: Action): Promise<boolean> {
  const resourceAttributes = { group: GROUP, namespace, verb, resource, subresource };
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user, resourceAttributes },
  };
  const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
  const { status } = JSON.parse(await rawText(world.stack.kubeconfig, path, { method: 'POST', body })) as {
    status: { allowed: boolean };
  };
  return status.allowed;
}

describe.each([
  { role: 'etcd-viewer', allows: LOOKING },
  { role: 'etcd-operator-user', allows: [...LOOKING, ...ASKING] },
  { role: 'etcd-admin', allows: [...LOOKING, ...ASKING, ...CHANGING] },
  { role: 'view', allows: LOOKING },
  { role: 'edit', allows: LOOKING },
  { role: 'admin', allows: [...LOOKING, ...ASKING, ...CHANGING] },
])('a user with $role in a namespace', ({ role, allows }) => {
  const user = `person-with-${role}`;

  beforeAll(async () => {
    const roleRef = [`--clusterrole=${role}`, `--user=${user}`];
    await world.stack.kubectl('create', 'rolebinding', user, '-n', NAMESPACE, ...roleRef);
    // The aggregation, and the authorizer, hear of it a moment later.
    await poll(() => may(user, NAMESPACE, ['get', 'etcdclusters', '']), { timeoutMs: 30_000 });
  });

  test('may do there what the page says, and nothing else', async () => {
    const found: Action[] = [];
    for (const action of EVERYTHING) if (await may(user, NAMESPACE, action)) found.push(action);
    expect(found).toEqual(EVERYTHING.filter(action => allows.includes(action)));
  });

  test('may do nothing elsewhere', async () => {
    for (const action of EVERYTHING)
      expect([action, await may(user, 'default', action)]).toEqual([action, false]);
  });
});

test('kubectl shows a user the same', async () => {
  const ask = async (...what: string[]): Promise<string> =>
    (
      await world.stack
        .kubectl('auth', 'can-i', ...what, '-n', NAMESPACE, '--as=person-with-admin')
        .catch((error: Error) => error.message)
    ).trim();
  expect(await ask('create', 'etcdclusters')).toBe('yes');
  expect(await ask('update', 'etcdclusters', '--subresource=status')).toMatch(/\bno\b/);
});

test('the policy of the server proves who asks', async () => {
  const path = `/apis/${API_VERSION}/namespaces/${NAMESPACE}/etcdrequests`;
  const ask = (by: string): Promise<string> => {
    const metadata = { generateName: 'ask-' };
    const spec = { clusterRef: { name: 'example' }, action: 'Resync', by };
    const body = { apiVersion: API_VERSION, kind: 'EtcdRequest', metadata, spec };
    return rawText(world.stack.kubeconfig, path, { method: 'POST', body }).then(
      () => 'created',
      (error: Error) => error.message,
    );
  };
  const me = await world.stack.kubectl('auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}');
  expect(await ask('somebody else')).toContain(`spec.by must be your user name, which is ${me}`);
  expect(await ask(me)).toBe('created');
});
