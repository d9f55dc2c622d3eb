import type { Listed, Page } from '../../orders/index.js';
import { readPage, toListed } from '../page.js';
import { columnsOf } from './columns.js';
import type { Queryable, Row } from './driver.js';

/** A condition with the value of its one parameter, written `?`; without a value it does not count. */
export type Condition = readonly [sql: string, value: string | undefined];

/** What a list shows, and in which order. */
export interface ListSpec<T> {
  readonly table: string;
  readonly order: 'newest' | 'oldest';
  readonly conditions: readonly Condition[];
  /** Conditions without a parameter. */
  readonly fixed?: readonly string[];
  readonly read: (row: Row) => T;
}

/** One page of the records that are wanted. */
export async function listRows<T>(database: Queryable, page: Page, spec: ListSpec<T>): Promise<Listed<T>> {
  const window = readPage(page);
  const values: (string | number)[] = [window.size + 1];
  const wanted = [...(spec.fixed ?? [])];
  for (const [sql, value] of spec.conditions) {
    if (value === undefined) continue;
    values.push(value);
    wanted.push(sql.replace('?', `$${values.length}`));
  }
  if (window.after !== null) {
    values.push(window.after);
    wanted.push(`seq ${spec.order === 'newest' ? '<' : '>'} $${values.length}`);
  }
  const where = wanted.length === 0 ? '' : `WHERE ${wanted.join(' AND ')}`;
  const direction = spec.order === 'newest' ? 'DESC' : 'ASC';
  const { rows } = await database.query(
    `SELECT * FROM sluice.${spec.table} ${where} ORDER BY seq ${direction} LIMIT $1`,
    values,
  );
  return toListed(rows, window, spec.read, (row) => columnsOf(row).number('seq'));
}
