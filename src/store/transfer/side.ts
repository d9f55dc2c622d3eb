import type { LocalTable, Table, ValueRow } from './tables.js';

/** Rows are read in pages of at most this many rows and about this many bytes; a single row can be larger. */
export const PAGE_ROWS = 1000;
export const PAGE_BYTES = 8 * 1024 * 1024;

/**
 * The schema version of a store while another store is copied into it: no version of Sluice opens it, and nothing else
 * can write to it. Far above every real version.
 */
export const TRANSFER_SCHEMA_VERSION = 1_000_000;

/** Tables that belong to one database only and are not copied. */
export const PRIVATE_TABLES: readonly string[] = [
  'migrations',
  'transfer',
  // Process leases and wake-ups.
  'duties',
  'followers',
  'queue_watchers',
  // Folders whose parked runs the next claim unparks; copied runs are parked again when they are added.
  'folders_left',
  // Triggers recompute these when entries are copied.
  'budget_totals',
];

/** One of the two stores. */
export interface Side {
  listTables(): Promise<readonly LocalTable[]>;
  count(table: Table): Promise<number>;
  /** Reads at most a page of rows after a key, ordered by key; with `until`, only rows up to that key. */
  readPage(table: Table, after: ValueRow | undefined, until?: ValueRow): Promise<readonly ValueRow[]>;
}

/** The store to copy from. Nothing can write to it until it is closed. */
export interface Source extends Side {
  /** The number of workers using it. */
  countWorkers(): Promise<number>;
}

/** The target's content: no store, a store without rows, a store with rows, or an unfinished copy of `origin`. */
export type TargetState = 'absent' | 'empty' | 'filled' | { readonly origin: string };

/** The store to copy to. */
export interface Target extends Side {
  inspect(): Promise<TargetState>;
  /** Creates the tables, and marks the store as incomplete. */
  begin(origin: string): Promise<void>;
  /** Adds rows in one transaction. */
  insert(table: Table, rows: readonly ValueRow[]): Promise<void>;
  /** Deletes all rows. */
  clear(tables: readonly Table[]): Promise<void>;
  /** Computes derived columns, and makes the store available. */
  finish(): Promise<void>;
}
