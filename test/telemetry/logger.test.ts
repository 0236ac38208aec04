import { describe, expect, test } from 'vitest';
import { createLogger, type Logger, type LogLevel } from '../../src/telemetry/logger.ts';
import { createScrubber } from '../../src/telemetry/scrub.ts';
import { temporalLogger } from '../../src/telemetry/temporal-logger.ts';

function loggerInto(lines: unknown[], level: LogLevel = 'debug'): Logger {
  return createLogger({
    level,
    scrub: createScrubber(['canary-7f3a9c']),
    fields: { pod: 'etcd-operator-1' },
    destination: { write: (line: string) => void lines.push(JSON.parse(line)) },
  });
}

describe('a line', () => {
  test('is one JSON object with level, time, message and fields', () => {
    const lines: unknown[] = [];
    loggerInto(lines).info('member added', { cluster: 'default/example', member: 'example-3' });
    expect(lines).toEqual([
      {
        level: 'info',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        message: 'member added',
        pod: 'etcd-operator-1',
        cluster: 'default/example',
        member: 'example-3',
      },
    ]);
  });

  test('carries no secret, whatever is logged', () => {
    const lines: unknown[] = [];
    const logger = loggerInto(lines).child({ clientToken: 'abc' });
    logger.error('failed with canary-7f3a9c', {
      error: new Error('Bearer abcdefghijkl'),
      secret: { kind: 'Secret', data: { x: 'eHg=' } },
      note: 'canary-7f3a9c',
    });
    expect(JSON.stringify(lines)).not.toMatch(/canary|abcdefghijkl|eHg=|"abc"/);
    expect(lines).toEqual([
      expect.objectContaining({ message: 'failed with [redacted]', note: '[redacted]' }),
    ]);
  });

  test('is left out below the level', () => {
    const lines: unknown[] = [];
    const logger = loggerInto(lines, 'warn');
    logger.debug('a');
    logger.info('b');
    logger.warn('c');
    logger.error('d');
    expect(lines).toEqual([
      expect.objectContaining({ message: 'c' }),
      expect.objectContaining({ message: 'd' }),
    ]);
  });

  test('cannot be made to lie by a field of a reserved name', () => {
    const lines: unknown[] = [];
    loggerInto(lines).info('real', { message: 'forged', level: 'debug' });
    expect(lines).toEqual([
      expect.objectContaining({ message: 'real', level: 'info', message_: 'forged', level_: 'debug' }),
    ]);
  });
});

test("Temporal's lines keep their level and ids and lose the task token", () => {
  const lines: unknown[] = [];
  const logger = temporalLogger(loggerInto(lines));
  logger.warn('Activity failed', {
    workflowId: 'etcdcluster/default/example/0d1f2a3b',
    taskToken: 'CiQ',
    attempt: 2,
  });
  logger.log('TRACE', 'poll');
  logger.log('ERROR', 'lost https://u:pw@host');
  expect(lines).toEqual([
    expect.objectContaining({
      level: 'warn',
      message: 'Activity failed',
      workflowId: 'etcdcluster/default/example/0d1f2a3b',
      attempt: 2,
    }),
    expect.objectContaining({ level: 'debug', message: 'poll' }),
    expect.objectContaining({ level: 'error', message: 'lost https://[redacted]@host' }),
  ]);
  expect(JSON.stringify(lines)).not.toContain('taskToken');
});
