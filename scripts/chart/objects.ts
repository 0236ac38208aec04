/** The parts of the chart that are the same as in deploy/: CRDs, roles for users and rules of the operator's roles. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import { customResourceDefinitions } from '../../src/api/schemas/crd.ts';
import { root } from '../run.ts';
import { CHART } from './values.ts';

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: object; readonly annotations?: object };
  readonly rules?: unknown;
}

const toYaml = (value: unknown): string => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
const indented = (text: string): string => text.replaceAll(/^(?=.)/gm, '    ');
/** Text that Helm does not take for its own. */
const literal = (text: string): string => text.replaceAll('{{', '{{ "{{" }}');

/** The version of MutatingAdmissionPolicy that the server has. */
const SERVED =
  '{{ ternary "v1" "v1beta1" (.Capabilities.APIVersions.Has "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy") }}';

/** The templates and files of the chart that are generated: path from the root of the checkout to content. */
export function chartObjects(): Map<string, string> {
  const files = new Map<string, string>();
  for (const definition of customResourceDefinitions())
    files.set(
      `${CHART}/templates/crds/${definition.spec.names.plural}.yaml`,
      template('crds', { source: 'src/api', objects: [definition as unknown as Manifest] }),
    );
  for (const name of ['cluster-roles.yaml', 'request-policy.yaml', 'restore-policy.yaml'])
    files.set(
      `${CHART}/templates/users/${name}`,
      template('users', { source: `deploy/users/${name}`, objects: manifests(`deploy/users/${name}`) }),
    );
  const filled = 'deploy/users/by-filled/mutating-policy.yaml';
  files.set(
    `${CHART}/templates/users/by-filled.yaml`,
    template('users', { source: filled, objects: manifests(filled), option: 'fillBy' }).replaceAll(
      'admissionregistration.k8s.io/v1beta1',
      `admissionregistration.k8s.io/${SERVED}`,
    ),
  );
  for (const [name, source] of Object.entries({
    cluster: 'deploy/rbac/cluster-role.yaml',
    namespace: 'deploy/namespaced/role.yaml',
    nodes: 'deploy/namespaced/cluster/cluster-role.yaml',
  }))
    files.set(
      `${CHART}/files/rules/${name}.yaml`,
      `# Generated from ${source} by scripts/generate.ts.\n${toYaml(rules(source))}`,
    );
  return files;
}

interface TemplateSource {
  /** For the reader of the chart. */
  readonly source: string;
  readonly objects: readonly Manifest[];
  /**
   * A value of the group that must be true as well. What it adds goes again when it is switched off: Helm would leave what is to
   * be kept, and a policy would go on changing objects.
   */
  readonly option?: string;
}

/**
 * A template of objects that are of the whole Kubernetes cluster, and stay if a value says so.
 * @param group the values that say whether to install and to keep them
 */
function template(group: 'crds' | 'users', { source, objects, option }: TemplateSource): string {
  const install = `.Values.${group}.install`;
  const condition = option === undefined ? install : `and ${install} .Values.${group}.${option}`;
  const text = objects
    .map(object => `---\n${templateOf(object, option === undefined ? keptBy(group) : '')}`)
    .join('');
  return `{{- /* Generated from ${source} by scripts/generate.ts. */}}\n{{- if ${condition} }}\n${text}{{- end }}\n`;
}

/** Annotations of what stays when the release is uninstalled, if a value of the group says so. */
function keptBy(group: string): string {
  return `  {{- if .Values.${group}.keep }}\n  annotations:\n    helm.sh/resource-policy: keep\n  {{- end }}\n`;
}

function templateOf({ apiVersion, kind, metadata, ...rest }: Manifest, annotated: string): string {
  const { name, labels, annotations, ...unknown } = metadata;
  if (annotations !== undefined || Object.keys(unknown).length > 0)
    throw new Error(
      `${kind} ${name}: the chart does not know what to do with its metadata but name and labels`,
    );
  return [
    literal(toYaml({ apiVersion, kind })),
    `metadata:\n  name: ${name}\n`,
    `  labels:\n    {{- include "etcd-operator.labels" . | nindent 4 }}\n`,
    labels === undefined ? '' : literal(indented(toYaml(labels))),
    annotated,
    literal(toYaml(rest)),
  ].join('');
}

/** The rules of the role of a file. */
function rules(path: string): unknown {
  const [role] = manifests(path).filter(({ rules: some }) => some !== undefined);
  if (role === undefined) throw new Error(`${path} has no role`);
  return role.rules;
}

function manifests(path: string): Manifest[] {
  return parseAllDocuments(readFileSync(join(root, path), 'utf8')).map(document => {
    if (document.errors.length > 0) throw new Error(`${path}: ${document.errors.join(', ')}`);
    return document.toJS() as Manifest;
  });
}
