/**
 * The generation of the workflows' code. When an operator begins to watch, it terminates the runs of every other generation, older or newer, and
 * begins them again from what it observes. Raise it with a change of src/workflows that runs under way cannot be replayed with
 * (docs/development/workflow-changes.md).
 */
export const ENGINE_GENERATION = 4;

/** The search attribute of every run that has it. */
export const GENERATION_ATTRIBUTE = 'EtcdEngineGeneration';
