import { describe, expect, it } from 'vitest';
import { listKnownKeys } from './load-config.js';

describe('listKnownKeys', () => {
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
  ])('includes the keys at %j', (path, keys) => {
    expect(listKnownKeys(path)).toEqual(expect.arrayContaining(keys));
  });

  it.each([[['wrappers']], [['concurrency']], [['nowhere', 'at all']], [['constructor']], [['data', '0']]])(
    'returns an empty list at %j',
    (path) => {
      expect(listKnownKeys(path)).toEqual([]);
    },
  );
});
