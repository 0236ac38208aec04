/** Whole lives of clusters once more where every pod gets containers and defaults that the operator did not ask for. */
import { afterAll, beforeAll, describe } from 'vitest';
import { injectEverywhere } from '../fakes/kubernetes/injected.ts';

const SUITES = [
  'membership-life',
  'upgrade-life',
  'rollout-life',
  'restore-life',
  'seal-life',
  'stuck-pods',
  'quorum-loss',
  'hibernation-life',
];

describe('where webhooks put containers into every pod', { timeout: 240_000 }, async () => {
  beforeAll(() => injectEverywhere(true));
  afterAll(() => injectEverywhere(false));
  for (const suite of SUITES) {
    // Under a name of its own: within one process a module runs once.
    const path = `./${suite}.test.ts?injected`;
    await import(path);
  }
});
