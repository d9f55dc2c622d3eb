import { columnDamaged } from '../refusals.js';
import type { Row } from './driver.js';

/** Columns of a row by what they hold. A table that was changed by hand is noticed here and not further in. */
export interface Columns {
  readonly text: (name: string) => string;
  readonly textOrNull: (name: string) => string | null;
  readonly number: (name: string) => number;
  readonly numberOrNull: (name: string) => number | null;
  readonly flag: (name: string) => boolean;
  /** A time as the records have it. */
  readonly time: (name: string) => string;
  readonly timeOrNull: (name: string) => string | null;
  /** JSON this store has written; its shape is that of the release that wrote it. */
  readonly json: (name: string) => unknown;
  readonly jsonOrNull: (name: string) => unknown;
}

/** Reads the columns of one row. */
export function columnsOf(row: Row): Columns {
  const text = (name: string): string => {
    const value = row[name];
    return typeof value === 'string' ? value : refuse(name);
  };
  const number = (name: string): number => {
    const value = row[name];
    if (typeof value === 'number') return value;
    // The driver gives a bigint as text; ours are times and counts, which a double holds.
    return typeof value === 'string' && /^-?[0-9]{1,15}$/.test(value) ? Number(value) : refuse(name);
  };
  const time = (name: string): string => {
    const at = new Date(number(name));
    return Number.isNaN(at.getTime()) ? refuse(name) : at.toISOString();
  };
  const json = (name: string): unknown => {
    try {
      return JSON.parse(text(name));
    } catch (cause) {
      return refuse(name, cause);
    }
  };
  const orNull = <T>(name: string, read: (name: string) => T): T | null => (row[name] === null ? null : read(name));
  return {
    text,
    textOrNull: (name) => orNull(name, text),
    number,
    numberOrNull: (name) => orNull(name, number),
    flag: (name) => row[name] === true,
    time,
    timeOrNull: (name) => orNull(name, time),
    json,
    jsonOrNull: (name) => orNull(name, json),
  };
}

function refuse(column: string, cause?: unknown): never {
  throw columnDamaged(column, cause);
}
