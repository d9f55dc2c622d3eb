import { describe, expect, it } from 'vitest';
import { readExecutionPage } from './page.js';

const AT = '2026-11-15T06:00:00.000Z';
const CURSOR = `${AT}~7`;

describe('a page of executions', () => {
  it("starts after the previous page's cursor", () => {
    expect(readExecutionPage({ cursor: CURSOR, limit: 5 })).toEqual({ size: 5, before: [AT, 7] });
  });

  it('has one upper bound: the cursor or the requested end, whichever is earlier', () => {
    expect(readExecutionPage({ cursor: CURSOR, until: '2026-12' })).toMatchObject({ before: [AT, 7] });
    expect(readExecutionPage({ cursor: CURSOR, until: '2026-10' })).toMatchObject({ before: ['2026-10', 0] });
    expect(readExecutionPage({ until: '2026-10' })).toMatchObject({ before: ['2026-10', 0] });
  });

  it.each(['7', `${AT}~`, `${AT}~x`, `~7`, `${AT}~1~2`, `x${'0'.repeat(50)}~1`, "' OR 1~1", ''])(
    'rejects the cursor %j',
    (cursor) => {
      expect(() => readExecutionPage({ cursor })).toThrow('Invalid cursor');
    },
  );
});
