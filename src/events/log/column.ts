import { isRecord } from '../reading/record-fields.js';
import type { Leaf } from './flatten.js';

type Path = readonly (string | number)[];

/** Consecutive values, run-length encoded: a pair is a value and its number of occurrences. */
type Runs<T extends Leaf> = readonly (T | readonly [value: T, times: number])[];

/**
 * The values at one path from the second event on: differences between integers or times in milliseconds, or the values
 * themselves.
 */
export type Column =
  | { readonly path: Path; readonly add: Runs<number> }
  | { readonly path: Path; readonly ms: Runs<number> }
  | { readonly path: Path; readonly values: Runs<Leaf> };

/** Creates the column for a path's values in all events; undefined if they are all equal. */
export function createColumn(path: Path, values: readonly Leaf[]): Column | undefined {
  const [first] = values;
  if (first === undefined || values.every((value) => value === first)) return undefined;
  if (values.every((value) => Number.isSafeInteger(value))) {
    return { path, add: toRuns(computeDifferences(values as readonly number[])) };
  }
  const times = values.map(readTime);
  if (!times.includes(null)) return { path, ms: toRuns(computeDifferences(times as readonly number[])) };
  return { path, values: toRuns(values.slice(1)) };
}

/** Returns the values of a column one by one. */
export interface ColumnReader {
  readonly path: Path;
  /** The next event's value, or undefined after the last. */
  next(): Leaf | undefined;
}

/** Parses a column; null if it is invalid, or its path does not exist in the event. */
export function readColumn(column: unknown, event: object): ColumnReader | null {
  if (!isRecord(column)) return null;
  const { path, add, ms, values } = column as Readonly<Record<string, unknown>>;
  if (!Array.isArray(path) || path.length === 0) return null;
  const first = findLeaf(event, path);
  if (first === undefined) return null;
  const validPath = path as Path;
  if (Array.isArray(values)) return { path: validPath, next: readRuns(values) };
  if (Array.isArray(add))
    return typeof first === 'number' ? { path: validPath, next: readSums(first, add, toInteger) } : null;
  const time = readTime(first);
  if (Array.isArray(ms)) return time === null ? null : { path: validPath, next: readSums(time, ms, toTime) };
  return null;
}

function computeDifferences(values: readonly number[]): number[] {
  return values.slice(1).map((value, index) => value - (values[index] ?? 0));
}

/** The minimum length of a run that is encoded as a pair, which takes as much space as three short values. */
const MIN_RUN_LENGTH = 4;

function toRuns<T extends Leaf>(values: readonly T[]): Runs<T> {
  const runs: (T | readonly [T, number])[] = [];
  for (let start = 0; start < values.length;) {
    const value = values[start] as T;
    let end = start + 1;
    while (end < values.length && values[end] === value) end += 1;
    if (end - start >= MIN_RUN_LENGTH) runs.push([value, end - start]);
    else for (let index = start; index < end; index += 1) runs.push(value);
    start = end;
  }
  return runs;
}

function readRuns(runs: readonly unknown[]): () => Leaf | undefined {
  let index = 0;
  let used = 0;
  return () => {
    const run = runs[index];
    const [value, times] = Array.isArray(run) ? (run as unknown[]) : [run, 1];
    if (typeof times !== 'number' || !isLeaf(value)) return undefined;
    used += 1;
    if (used >= times) {
      index += 1;
      used = 0;
    }
    return value;
  };
}

/** Like {@link readRuns}, for runs of differences: returns the sum up to each. */
function readSums(first: number, runs: readonly unknown[], toLeaf: (value: number) => Leaf | undefined) {
  const nextDifference = readRuns(runs);
  let total = first;
  return (): Leaf | undefined => {
    const difference = nextDifference();
    if (typeof difference !== 'number') return undefined;
    total += difference;
    return toLeaf(total);
  };
}

function toInteger(value: number): number | undefined {
  return Number.isSafeInteger(value) ? value : undefined;
}

/** The latest time that a `Date` can represent, in milliseconds. */
const MAX_TIME = 8.64e15;

function toTime(ms: number): string | undefined {
  return Number.isInteger(ms) && Math.abs(ms) <= MAX_TIME ? new Date(ms).toISOString() : undefined;
}

const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/u;

/** Converts an event timestamp to milliseconds since 1970; null for any other value. */
function readTime(value: Leaf): number | null {
  if (typeof value !== 'string' || !TIME.test(value)) return null;
  const ms = Date.parse(value);
  return toTime(ms) === value ? ms : null;
}

function findLeaf(event: object, path: readonly unknown[]): Leaf | undefined {
  let value: unknown = event;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    // Excludes an array's `length` and an object's prototype.
    const isKey = Array.isArray(value) ? typeof key === 'number' : typeof key === 'string' && key !== '__proto__';
    if (!isKey || !Object.hasOwn(value, key as string | number)) return undefined;
    value = Reflect.get(value, key as string | number);
  }
  return isLeaf(value) ? value : undefined;
}

function isLeaf(value: unknown): value is Leaf {
  return value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}
