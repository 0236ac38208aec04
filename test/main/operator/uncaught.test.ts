import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { uncaughtHandler } from '../../../src/main/operator/uncaught.ts';

function handler(most: number) {
  const lines: { readonly message: string; readonly fields: unknown }[] = [];
  const counted: string[] = [];
  const given: string[] = [];
  const handle = uncaughtHandler(
    {
      logger: { error: (message, fields) => void lines.push({ message, fields }) },
      count: origin => void counted.push(origin),
      giveUp: error => void given.push(error.message),
    },
    { most, windowMs: 60_000 },
  );
  return { handle, lines, counted, given };
}

test('an uncaught error is logged with its origin, and counted', () => {
  const { handle, lines, counted, given } = handler(10);
  const error = new Error('of a callback');
  handle(error, 'uncaughtException');
  handle('a text', 'unhandledRejection');
  expect(lines.map(({ fields }) => fields)).toEqual([
    { origin: 'uncaughtException', error },
    { origin: 'unhandledRejection', error: 'a text' },
  ]);
  expect(counted).toEqual(['uncaughtException', 'unhandledRejection']);
  expect(given).toEqual([]);
});

test('more of it than is borne ends the process in order, once', () => {
  const { handle, given } = handler(3);
  for (let each = 0; each < 10; each += 1) handle(new Error('again'), 'uncaughtException');
  expect(given).toEqual(['4 uncaught errors within 60 s']);
});

test('a log that fails changes nothing', () => {
  const handle = uncaughtHandler({
    logger: {
      error: () => {
        throw new Error('the log is closed');
      },
    },
    count: () => {},
    giveUp: () => {},
  });
  expect(() => handle(new Error('any'), 'uncaughtException')).not.toThrow();
});

test('a process continues after both kinds', async () => {
  const module = join(import.meta.dirname, '../../../src/main/operator/uncaught.ts');
  const script = `
    import { uncaughtHandler } from ${JSON.stringify(module)};
    const logger = { error: (_, { origin, error }) => console.log(origin, error.message) };
    process.on('uncaughtException', uncaughtHandler({ logger, count: () => {}, giveUp: () => {} }));
    setTimeout(() => { throw new Error('thrown'); }, 1);
    setTimeout(() => void Promise.reject(new Error('rejected')), 5);
    setTimeout(() => console.log('goes on'), 50);
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script]);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (output += String(chunk)));
  const code = await new Promise(resolve => child.once('exit', resolve));
  expect(output).toBe('uncaughtException thrown\nunhandledRejection rejected\ngoes on\n');
  expect(code).toBe(0);
});
