import type { Row, Value } from '../driver.js';

/** The subset of a prepared statement that this store uses, here and in `node:sqlite`. */
export interface Statement {
  run(...values: readonly Value[]): { readonly changes: number | bigint };
  get(...values: readonly Value[]): Row | undefined;
  all(...values: readonly Value[]): readonly Row[];
}

/** The subset of a connection that this store uses, here and in `node:sqlite`. */
export interface Connection {
  readonly isTransaction: boolean;
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}
