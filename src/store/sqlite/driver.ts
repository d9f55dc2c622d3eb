/** A value that can be bound to a statement. */
export type SqlValue = string | number | null | Uint8Array;

/** A row as the driver returns it, by column name. */
export type SqlRow = Readonly<Record<string, unknown>>;

/** The subset of a prepared statement that this store uses, here and in `node:sqlite`. */
export interface Statement {
  run(...values: readonly SqlValue[]): { readonly changes: number | bigint };
  get(...values: readonly SqlValue[]): SqlRow | undefined;
  all(...values: readonly SqlValue[]): readonly SqlRow[];
}

/** The subset of a connection that this store uses, here and in `node:sqlite`. */
export interface Connection {
  readonly isTransaction: boolean;
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}
