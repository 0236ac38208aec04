/**
 * Puts the operator, the programs of its helping pods, and the packages that they always need into a few files. A start is
 * mostly the loading of modules: two thousand files take twice the processor time of twenty (docs/decisions/0055-the-operator-s-process-and-image.md).
 */
import { dirname, join, parse, relative } from 'node:path';
import { type Plugin, rolldown } from 'rolldown';
import { root } from './run.ts';

/** What is started by name: the operator, what goes before it in every thread, and what runs in the pods that help it. */
const PROGRAMS = ['operator', 'claim-store', 'seed', 'survivor', 'verify'];

/** Loaded when they are first needed, which for most is never: they stay files of their own in node_modules. */
const SELDOM_NEEDED = ['@aws-sdk/client-s3', 'google-auth-library', '@kubernetes/client-node'];

/** Bundles workflows with webpack, which is done at build time; and loads webpack, also where it bundles nothing. */
const WORKFLOW_BUNDLER = 'node_modules/@temporalio/worker/lib/workflow/bundler.js';
const NO_WORKFLOW_BUNDLER = `
  const refuse = () => {
    throw new Error('workflows are bundled when the operator is built (scripts/build.ts), not when it runs');
  };
  module.exports = { WorkflowCodeBundler: refuse, bundleWorkflowCode: refuse, defaultWorkflowInterceptorModules: [] };
`;

/** Where the operator's SDK starts a thread, it names this file, beside its own. */
const WORKFLOW_THREAD = 'node_modules/@temporalio/worker/lib/workflow/workflow-worker-thread.js';

/** Prepended to each file, all of which lie in dist/main. */
const FOLDER_IN_IMAGE =
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code
  'const __folderInImage = path => `${import.meta.dirname}/../../${path}`;';

/** Packages read files that lie beside their sources: etcd's messages, the native part of Temporal's SDK. */
const filesOfPackages: Plugin = {
  name: 'files of packages',
  transform(code, id) {
    if (!id.includes('/node_modules/') || !/\b__dirname\b/.test(code)) return null;
    const folder = JSON.stringify(relative(root, dirname(id)));
    return { code: code.replaceAll(/\b__dirname\b/g, `__folderInImage(${folder})`), map: null };
  },
};

const withoutWorkflowBundler: Plugin = {
  name: 'without the bundler of workflows',
  load: id =>
    relative(root, id) === WORKFLOW_BUNDLER ? { code: NO_WORKFLOW_BUNDLER, moduleType: 'js' } : null,
};

/**
 * Descriptors of etcd's messages, which a server gives to clients that ask what it serves: a tenth of a start. No client reads them
 * (makeClientConstructor of @grpc/grpc-js).
 */
const DESCRIPTORS = [
  ["const descriptorList = root.toDescriptor('proto3').file;", 'const descriptorList = [];'],
  ["const messageDescriptor = message.toDescriptor('proto3');", ''],
  ['type: messageDescriptor.$type.toObject(messageDescriptor, descriptorOptions)', 'type: {}'],
] as const;

const withoutDescriptors: Plugin = {
  name: 'without descriptors of messages',
  transform(code, id) {
    if (!id.endsWith('/@grpc/proto-loader/build/src/index.js')) return null;
    return {
      code: DESCRIPTORS.reduce((text, [made, instead]) => {
        if (!text.includes(made)) throw new Error(`${id} has changed, and has no longer: ${made}`);
        return text.replace(made, instead);
      }, code),
      map: null,
    };
  },
};

/** @param folder gets a file for each program of src/main, under its name, and what they share */
export async function bundleOperator(folder: string): Promise<void> {
  const files = [...PROGRAMS.map(name => `src/main/${name}.ts`), WORKFLOW_THREAD];
  const bundle = await rolldown({
    input: Object.fromEntries(files.map(file => [parse(file).name, join(root, file)])),
    platform: 'node',
    // Names in what is written are relative to it.
    cwd: root,
    external: [...SELDOM_NEEDED, /^node:/],
    plugins: [filesOfPackages, withoutWorkflowBundler, withoutDescriptors],
    // How long plugins take on a busy machine is no fault.
    checks: { bundlerTimings: false },
    // A warning is of something that would fail when it runs.
    onLog: (level, { message }) => {
      if (level === 'warn') throw new Error(message);
    },
  });
  await bundle.write({ dir: folder, format: 'esm', banner: FOLDER_IN_IMAGE });
  await bundle.close();
}
