import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createJsonLogger, silentLogger } from './logger.js';
import type { JsonLoggerOptions, Logger } from './logger.js';

function collect(options: JsonLoggerOptions = {}): { lines: string[]; logger: Logger } {
  const lines: string[] = [];
  return { lines, logger: createJsonLogger((line) => lines.push(line), { clock: () => 0, ...options }) };
}

describe('createJsonLogger', () => {
  it('writes a JSON line with level, time, message and fields', () => {
    const { lines, logger } = collect();
    logger.warn('slow', { run_id: 'r1', ms: 3 });
    expect(lines).toEqual([
      '{"level":"warn","time":"1970-01-01T00:00:00.000Z","message":"slow","run_id":"r1","ms":3}\n',
    ]);
  });

  it('omits lines below its level', () => {
    const { lines, logger } = collect({ level: 'warn' });
    logger.debug('a');
    logger.info('b');
    logger.warn('c');
    logger.error('d');
    expect(lines.map((line) => (JSON.parse(line) as { message: string }).message)).toEqual(['c', 'd']);
  });

  it('masks the message, the fields at every depth, their names, and errors with their causes', () => {
    const mask = (text: string): string => text.replaceAll('hunter22', '********');
    const { lines, logger } = collect({ mask });
    const error = new Error('hunter22 refused', { cause: new Error('because of hunter22') });
    logger.error('with hunter22', { a: [{ b: 'hunter22' }], hunter22: 1, error });
    expect(lines.join('')).not.toContain('hunter22');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      message: 'with ********',
      a: [{ b: '********' }],
      '********': 1,
      error: { name: 'Error', message: '******** refused', cause: { message: 'because of ********' } },
    });
  });

  it('does not let a field override the level, the time or the message', () => {
    const { lines, logger } = collect();
    logger.info('real', { level: 'error', time: 'never', message: 'false' });
    expect(JSON.parse(lines[0] ?? '')).toEqual({ level: 'info', time: '1970-01-01T00:00:00.000Z', message: 'real' });
  });

  it('escapes control characters and line breaks', () => {
    const { lines, logger } = collect();
    logger.info('a\n\u001b[2Jb');
    expect(lines[0]).toContain(String.raw`a\n\u001b[2Jb`);
  });

  it('shortens long strings, long lists and deep values', () => {
    const { lines, logger } = collect();
    const deep: Record<string, unknown> = {};
    deep['self'] = deep;
    logger.info('x'.repeat(1_000_000), { list: Array.from({ length: 10_000 }, () => 'y'), deep });
    const tree = (depth: number): unknown => (depth === 0 ? 'leaf' : Array.from({ length: 40 }, () => tree(depth - 1)));
    logger.info('wide', { tree: tree(4) });
    expect(lines.map((line) => line.length < 10_000)).toEqual([true, true]);
    expect(lines[0]).toContain('[9950 more]');
  });

  it('writes one JSON line for any value', () => {
    const { lines, logger } = collect();
    fc.assert(
      fc.property(
        fc.string(),
        fc.dictionary(fc.string(), fc.anything({ withBigInt: true, withDate: true })),
        (text, fields) => {
          lines.length = 0;
          logger.info(text, fields);
          expect(lines).toHaveLength(1);
          expect(lines[0]?.indexOf('\n')).toBe((lines[0]?.length ?? 0) - 1);
          expect(JSON.parse(lines[0] ?? '')).toMatchObject({ level: 'info' });
        },
      ),
    );
  });

  it('replaces a member that cannot be read', () => {
    const { lines, logger } = collect();
    logger.info('a', {
      b: {
        get c() {
          throw new Error('no');
        },
      },
    });
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ b: { c: '[unreadable]' } });
  });

  it('replaces an error and a proxy that cannot be read', () => {
    const { lines, logger } = collect();
    const throwError = () => {
      throw new Error('no');
    };
    const error = Object.defineProperty(new Error('no'), 'name', { get: throwError });
    logger.info('a', { error, proxy: new Proxy({}, { ownKeys: throwError }) });
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ error: '[unreadable]', proxy: '[unreadable]' });
  });
});

describe('silentLogger', () => {
  it('writes nothing', () => {
    expect(silentLogger.error('x', { y: 1 })).toBeUndefined();
  });
});
