import { describe, expect, test } from 'vitest';
import { readSpellings } from './spelling.js';

describe('readSpellings', () => {
  test.each(['run_id', 'RunId', 'RunID', 'runId', 'RUN_ID'])('reads %s as run_id', (key) => {
    expect(readSpellings([[key, 'x']], ['run_id']).known).toEqual(new Map([['run_id', 'x']]));
  });

  test.each(['run id', 'run-id', 'rún_id', 'runId\u200B', 'run_\u0131d', '__proto__', ''])(
    'does not read %j as run_id',
    (key) => {
      const { known, unknown } = readSpellings([[key, 'x']], ['run_id']);
      expect(known.size).toBe(0);
      expect(unknown).toEqual(new Map([[key, 'x']]));
    },
  );

  test('two spellings of a key must have the same value', () => {
    const twice = (second: unknown) => readSpellings(Object.entries({ Status: 'ok', status: second }), ['status']);
    expect(twice('ok').conflicts).toEqual([]);
    expect(twice('fail').conflicts).toEqual([
      {
        code: 'KEY_CONFLICT',
        message: 'two spellings with different values; keep one of them',
        path: 'status',
      },
    ]);
    expect(readSpellings(Object.entries({ Tests: {}, tests: {} }), ['tests']).conflicts).toHaveLength(1);
  });
});
