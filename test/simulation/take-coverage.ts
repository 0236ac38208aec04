/** Has a worker of Vitest write its coverage (NODE_V8_COVERAGE) after each file: it is ended without a chance to do so at its exit. */
import { takeCoverage } from 'node:v8';
import { afterAll } from 'vitest';

afterAll(() => takeCoverage());
