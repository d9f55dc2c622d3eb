import type { GuardedChange, Row } from '../driver.js';
import type { Statement } from './driver.js';

/** Rewrites a shared statement for SQLite (`Session` explains the notation). */
export function translate(sql: string): string {
  return sql
    .replaceAll(/\$(\d+)/g, '?$1')
    .replaceAll(/::(?:double precision|[a-z]+)/g, '')
    .replaceAll(/\sFOR (?:NO KEY )?UPDATE(?: OF \w+)?(?: SKIP LOCKED)?/g, '')
    .replaceAll('= ANY (ARRAY(', 'IN (SELECT * FROM (')
    .replaceAll(/\b(?:each|objects)\((\?\d+)\) AS/g, 'json_each($1) AS')
    .replaceAll('greatest(', 'max(')
    .replaceAll('strpos(', 'instr(');
}

/** A statement of a guarded change, and the numbers of the values that it binds. */
interface GuardedStatement {
  readonly statement: Statement;
  readonly uses: readonly number[];
}

/** Prepares a statement that binds only the values that it uses. */
export function prepareUsed(prepare: (sql: string) => Statement, sql: string): GuardedStatement {
  const uses = [...new Set(Array.from(sql.matchAll(/\$(\d+)/g), ([, number]) => Number(number)))];
  const renumbered = sql.replaceAll(/\$(\d+)/g, (_, number) => `$${uses.indexOf(Number(number)) + 1}`);
  return { statement: prepare(renumbered), uses };
}

/**
 * Creates a function that prepares the statements of a guarded change. The guard's rows are bound as values, numbered after
 * the `shared` parameters, so all statements read them as they were before the change. Each statement binds only the values
 * that it uses, and reads a single row without a table: otherwise both would take as long as executing the statement.
 */
export function createChangePreparer(
  prepare: (sql: string) => Statement,
): (change: GuardedChange, rows: readonly Row[], shared: number) => readonly GuardedStatement[] {
  const prepared = new WeakMap<GuardedChange, Map<number, readonly GuardedStatement[]>>();
  return (change, rows, shared) => {
    const byCount = prepared.get(change) ?? new Map<number, readonly GuardedStatement[]>();
    prepared.set(change, byCount);
    const known = byCount.get(rows.length);
    if (known !== undefined) return known;
    const columns = Object.keys(rows[0] ?? {});
    let next = shared;
    const tuples = rows.map(() => `(${columns.map(() => `$${(next += 1)}`).join()})`).join();
    const statements = change.statements.map((sql): GuardedStatement => {
      const single = sql.replaceAll(/\bIN \(SELECT (\w+) FROM guard\)/g, (all, column: string) =>
        rows.length === 1 ? `IN ($${shared + columns.indexOf(column) + 1})` : all,
      );
      const text = /\bguard\b/.test(single) ? `WITH guard (${columns.join()}) AS (VALUES ${tuples}) ${single}` : single;
      return prepareUsed(prepare, text);
    });
    byCount.set(rows.length, statements);
    return statements;
  };
}
