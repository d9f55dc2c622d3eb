import { StoreError } from '../store-error.js';
import type { SqlRow } from './driver.js';

/** The columns of a row, checked: a file can be damaged, or written by a hand. */
export function readText(row: SqlRow, column: string): string {
  const value = row[column];
  return typeof value === 'string' ? value : refuse(column);
}

export function readTextOrNull(row: SqlRow, column: string): string | null {
  return row[column] === null ? null : readText(row, column);
}

export function readInteger(row: SqlRow, column: string): number {
  const value = row[column];
  return typeof value === 'number' ? value : refuse(column);
}

export function readIntegerOrNull(row: SqlRow, column: string): number | null {
  return row[column] === null ? null : readInteger(row, column);
}

/** A time, as records carry it. */
export function readTime(row: SqlRow, column: string): string {
  return new Date(readInteger(row, column)).toISOString();
}

export function readTimeOrNull(row: SqlRow, column: string): string | null {
  return row[column] === null ? null : readTime(row, column);
}

/** What was written with `JSON.stringify`. Only this store writes these columns, so callers take the shape at its word. */
export function readJson(row: SqlRow, column: string): unknown {
  try {
    return JSON.parse(readText(row, column));
  } catch (error) {
    throw new StoreError('STORE_DAMAGED', `column ${column} of the database does not hold what was written`, {
      cause: error,
    });
  }
}

export function readJsonOrNull(row: SqlRow, column: string): unknown {
  return row[column] === null ? null : readJson(row, column);
}

function refuse(column: string): never {
  throw new StoreError('STORE_DAMAGED', `column ${column} of the database does not hold what was written`);
}
