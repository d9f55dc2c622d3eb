import { describe, expect, test } from 'vitest';
import { hasEnded, readAttemptMeta } from './attempt-meta.js';

describe('readAttemptMeta', () => {
  test("reads known fields and ignores other tools' fields", () => {
    expect(
      readAttemptMeta({ engine: 'codex', exit_code: null, signal: 'SIGTERM', scenario: 'x', session_id: null }),
    ).toEqual({
      meta: { engine: 'codex', exit_code: null, signal: 'SIGTERM', session_id: null },
      ignored: [],
    });
  });

  test('lists invalid fields', () => {
    expect(
      readAttemptMeta({
        engine: 7,
        started_at: 'soon',
        exit_code: 1.5,
        mode: 'fast',
        verdict: 'fine',
        command: [1],
        version: null,
      }),
    ).toEqual({ meta: {}, ignored: ['engine', 'command', 'mode', 'started_at', 'exit_code', 'verdict'] });
  });

  test.each([null, [], 'text', undefined])('ignores %j entirely', (value) => {
    expect(readAttemptMeta(value)).toEqual({ meta: {}, ignored: ['the whole file'] });
  });

  test('ignores inherited properties', () => {
    expect(readAttemptMeta(Object.create({ engine: 'codex' }))).toEqual({ meta: {}, ignored: [] });
  });
});

test.each([
  [{}, false],
  [{ started_at: '2026-01-01T00:00:00.000Z', exit_code: null, signal: null }, false],
  [{ finished_at: '2026-01-01T00:00:00.000Z' }, true],
  [{ exit_code: 0 }, true],
  [{ signal: 'SIGKILL' }, true],
])('%j: ended %s', (meta, ended) => {
  expect(hasEnded(meta)).toBe(ended);
});
