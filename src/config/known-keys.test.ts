import { describe, expect, it } from 'vitest';
import { knownKeys } from './known-keys.js';

describe('knownKeys', () => {
  it.each([
    [[], ['data', 'sinks', 'retention']],
    [['retention'], ['runs', 'records', 'delivered', 'results']],
    [['programs'], ['codex', 'qwen']],
    [
      ['server', 'limits'],
      ['body_bytes', 'request_s'],
    ],
    [
      ['sinks', '0'],
      ['type', 'url', 'secret_env'],
    ],
    [
      ['wrappers', 'mine'],
      ['type', 'command', 'inject'],
    ],
  ])('at %j have these among them', (path, keys) => {
    expect(knownKeys(path)).toEqual(expect.arrayContaining(keys));
  });

  it.each([[['wrappers']], [['concurrency']], [['nowhere', 'at all']], [['constructor']], [['data', '0']]])(
    'at %j are an empty list',
    (path) => {
      expect(knownKeys(path)).toEqual([]);
    },
  );
});
