/** Backups into claims and their verification once more where every pod gets containers that the operator did not ask for. */
import { afterAll, beforeAll, describe } from 'vitest';
import { injectEverywhere } from '../../fakes/kubernetes/injected.ts';

describe('where webhooks put containers into every pod', { timeout: 240_000 }, async () => {
  beforeAll(() => injectEverywhere(true));
  afterAll(() => injectEverywhere(false));
  for (const suite of ['verification-life', 'stored-verification-life', 'claim-store']) {
    // Under a name of its own: within one process a module runs once.
    const path = `./${suite}.test.ts?injected`;
    await import(path);
  }
});
