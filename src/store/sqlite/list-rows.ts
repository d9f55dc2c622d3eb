import type { Listed, Page } from '../../orders/index.js';
import { readPage, toListed } from '../page.js';
import type { Database } from './database.js';
import type { SqlRow, SqlValue } from './driver.js';
import { readInteger } from './row-reader.js';

/** A condition of a list and what is bound in it; undefined for one that was not asked for. */
export type Condition = readonly [sql: string, value?: SqlValue] | undefined;

/** One page of a table. The conditions are ours; what comes from outside is only ever bound. */
export async function listRows<T>(
  database: Database,
  table: string,
  page: Page,
  order: 'newest' | 'oldest',
  conditions: readonly Condition[],
  read: (row: SqlRow) => T,
): Promise<Listed<T>> {
  return database.read(() => {
    const window = readPage(page);
    const wanted = conditions.filter((condition) => condition !== undefined);
    const { sql, values } = listStatement(table, order, wanted, window.after);
    const rows = database.prepare(sql).all(...values, window.size + 1);
    return toListed(rows, window, read, (row) => readInteger(row, 'sequence'));
  });
}

/** The statement of a list, without the limit it is bound with. */
export function listStatement(
  table: string,
  order: 'newest' | 'oldest',
  conditions: readonly (readonly [sql: string, value?: SqlValue])[],
  after: number | null,
): { readonly sql: string; readonly values: readonly SqlValue[] } {
  const behind = order === 'newest' ? 'sequence < ?' : 'sequence > ?';
  const all = after === null ? conditions : [...conditions, [behind, after] as const];
  const where = all.length === 0 ? '' : `WHERE ${all.map(([sql]) => sql).join(' AND ')}`;
  return {
    sql: `SELECT * FROM ${table} ${where} ORDER BY sequence ${order === 'newest' ? 'DESC' : 'ASC'} LIMIT ?`,
    values: all.flatMap(([, value]) => (value === undefined ? [] : [value])),
  };
}

/** A condition for a value that may not have been asked for. */
export function equals(column: string, value: string | undefined): Condition {
  return value === undefined ? undefined : [`${column} = ?`, value];
}
