/** The code that runs in the workflow sandbox, bundled: at build time for the image, at start when run from src/. */
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, type WorkflowBundleOption } from '@temporalio/worker';
import type { Logger } from '@temporalio/worker';

/**
 * Bundles src/workflows/index.ts as the sandbox loads it, with what stands before the handlers. Takes 1-3 s.
 * @param workflowsPath the file whose exported functions are the workflow types
 * @param logger gets the bundler's own report
 * @returns one script with its source map inline
 * @throws when a workflow reaches a module that the sandbox refuses (bundler.ts of @temporalio/worker)
 */
export async function bundleWorkflows(workflowsPath: string, logger?: Logger): Promise<string> {
  const unreadable = fileURLToPath(new URL('../../workflows/messages/unreadable.ts', import.meta.url));
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    payloadConverterPath: unreadable,
    workflowInterceptorModules: [unreadable],
    ...(logger === undefined ? {} : { logger }),
  });
  return code;
}

/**
 * The bundle that belongs to the code now running: compiled code has it beside it (scripts/build.ts), sources
 * are bundled afresh, so that a bundle left over from an earlier build is never run with newer activities.
 * @param logger gets the bundler's own report
 */
export async function workflowBundle(logger: Logger): Promise<WorkflowBundleOption> {
  if (import.meta.filename.endsWith('.js')) {
    return { codePath: fileURLToPath(new URL('../workflow-bundle.js', import.meta.url)) };
  }
  return {
    code: await bundleWorkflows(fileURLToPath(new URL('../../workflows/index.ts', import.meta.url)), logger),
  };
}
