import { holdsNul, isLookUp } from '../holds-nul.js';
import { StoreError } from '../store-error.js';
import type { SqlValue, Statement } from './driver.js';

/** A statement that takes no name for another: one with a NUL, where SQLite would cut it off, is nobody's. */
export function withWholeNames(statement: Statement, sql: string): Statement {
  const findsNothing = isLookUp(sql);

  function isNobody(values: readonly SqlValue[]): boolean {
    if (!values.some(holdsNul)) return false;
    if (findsNothing) return true;
    throw new StoreError(
      'STORE_FAILED',
      'a name holds a NUL, which the database cannot keep; nothing was written: leave it out',
    );
  }

  return {
    run: (...values) => (isNobody(values) ? { changes: 0 } : statement.run(...values)),
    get: (...values) => (isNobody(values) ? undefined : statement.get(...values)),
    all: (...values) => (isNobody(values) ? [] : statement.all(...values)),
  };
}
