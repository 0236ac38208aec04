/** Signals as the older `tctl` sends them, and what a person could have typed there. */
import type { WorkflowBench } from './workflow-bench.ts';

export const ANA = '{"by":"ana","reason":"maintenance"}';
export const BOB = '{"by":"bob","reason":"another"}';

/** JSON in a JSON string, as a shell with other quotes makes it. */
export const quoted = (text: string): string => JSON.stringify(text);

/** What may be typed for a message that everything is taken for: inputs, and who asks and why as the workflow takes it. */
export const TYPED: readonly (readonly [
  title: string,
  inputs: readonly string[],
  request: { readonly by?: string; readonly reason?: string },
])[] = [
  ['an object', [ANA], { by: 'ana', reason: 'maintenance' }],
  ['two inputs, of which the first counts', [ANA, BOB], { by: 'ana', reason: 'maintenance' }],
  ['no input', [], {}],
  ['a text, which is the reason', ['"maintenance"'], { reason: 'maintenance' }],
  ['JSON in a text, which is the reason', [quoted(ANA)], { reason: ANA }],
  ['what is no JSON', ['maintenance'], {}],
  ['null', ['null'], {}],
];

/** Sends the signal with these texts as its inputs, each as it was typed: payloads of `json/plain`. */
export async function sendTyped(
  { client }: WorkflowBench,
  workflowId: string,
  signalName: string,
  typed: readonly string[],
): Promise<void> {
  const metadata = { encoding: Buffer.from('json/plain') };
  await client.workflowService.signalWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId },
    signalName,
    identity: 'tctl@host',
    // Without an input tctl sends no payloads at all.
    ...(typed.length > 0 && {
      input: { payloads: typed.map(text => ({ metadata, data: Buffer.from(text) })) },
    }),
  });
}
