import { columnDamaged } from '../refusals.js';
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
  const time = new Date(readInteger(row, column));
  return Number.isNaN(time.getTime()) ? refuse(column) : time.toISOString();
}

export function readTimeOrNull(row: SqlRow, column: string): string | null {
  return row[column] === null ? null : readTime(row, column);
}

/** What was written with `JSON.stringify`. Only this store writes these columns, so callers take the shape at its word. */
export function readJson(row: SqlRow, column: string): unknown {
  try {
    return JSON.parse(readText(row, column));
  } catch (error) {
    return refuse(column, error);
  }
}

export function readJsonOrNull(row: SqlRow, column: string): unknown {
  return row[column] === null ? null : readJson(row, column);
}

function refuse(column: string, cause?: unknown): never {
  throw columnDamaged(column, cause);
}
