import { isRecord } from '../reading/record-fields.js';

/*
 * The lines of an event log. An event is one line of JSON. A long series of small, similar events is a single line: the
 * first event of each kind, and the changes from one event to the next, by path. Otherwise the events for thousands of
 * one-letter lines would be four hundred times as large as the output.
 */

/** Shorter series are written as one event per line, to keep the log readable. */
const MIN_SERIES_LENGTH = 64;
/** Limit of a series: to read one event, a reader must expand the whole series. */
const MAX_SERIES_LENGTH = 2048;
const MAX_KINDS = 4;
/** A series is used only if its size is at most this fraction of the events on separate lines. */
const MAX_SIZE_RATIO = 0.5;

interface SeriesLine {
  readonly series: 1;
  readonly count: number;
  readonly kinds: readonly EncodedKind[];
  /** The kind of each event, one digit per event; omitted if there is only one kind. */
  readonly order?: string;
}

interface EncodedKind {
  readonly event: object;
  readonly columns: readonly Column[];
}

/** Encodes events as lines, in order, each with a newline. */
export function encodeLines(events: readonly object[]): string {
  let lines = '';
  let start = 0;
  while (start < events.length) {
    const series = events.length - start < MIN_SERIES_LENGTH ? null : collectSeries(events, start);
    const line = series === null ? null : encodeSeries(series);
    const end = series === null ? events.length : start + Math.max(1, series.order.length);
    if (line !== null) lines += `${line}\n`;
    else for (let index = start; index < end; index += 1) lines += `${JSON.stringify(events[index])}\n`;
    start = end;
  }
  return lines;
}

/** Returns the events in a line; undefined if it is invalid. */
export function decodeLine(text: string): readonly object[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  return 'series' in value && 'kinds' in value ? expandSeries(value) : [value];
}

interface Kind {
  readonly first: object;
  readonly rows: (readonly Leaf[])[];
  readonly paths: readonly Path[];
}

interface CollectedSeries {
  readonly kinds: readonly Kind[];
  readonly order: readonly number[];
}

/** Collects the longest series that starts with an event; it can be empty. */
function collectSeries(events: readonly object[], start: number): CollectedSeries {
  const kinds: Kind[] = [];
  const numbers = new Map<string, number>();
  const order: number[] = [];
  const end = Math.min(events.length, start + MAX_SERIES_LENGTH);
  for (let index = start; index < end; index += 1) {
    const event = events[index] ?? {};
    const flat = flatten(event);
    if (flat === null) break;
    let number = numbers.get(flat.shape);
    if (number === undefined) {
      if (kinds.length === MAX_KINDS) break;
      number = kinds.length;
      numbers.set(flat.shape, number);
      kinds.push({ first: event, rows: [], paths: listPaths(event) });
    }
    kinds[number]?.rows.push(flat.leaves);
    order.push(number);
  }
  return { kinds, order };
}

/** Encodes a series as a line; null if it has few events or would save little space. */
function encodeSeries({ kinds, order }: CollectedSeries): string | null {
  if (order.length < MIN_SERIES_LENGTH) return null;
  const line: SeriesLine = {
    series: 1,
    count: order.length,
    kinds: kinds.map(({ first, rows, paths }) => ({
      event: first,
      columns: paths.flatMap(
        (path, index) =>
          createColumn(
            path,
            rows.map((row) => row[index] ?? null),
          ) ?? [],
      ),
    })),
    ...(kinds.length > 1 ? { order: order.join('') } : {}),
  };
  const text = JSON.stringify(line);
  const separateLength = kinds.reduce((sum, { first, rows }) => sum + rows.length * JSON.stringify(first).length, 0);
  return text.length <= separateLength * MAX_SIZE_RATIO ? text : null;
}

/** Expands a series, only if all of it is valid: the line might come from a folder that an agent can write to. */
function expandSeries(line: object): readonly object[] | undefined {
  const { series, count, kinds, order } = line as Readonly<Partial<Record<keyof SeriesLine, unknown>>>;
  if (series !== 1 || typeof count !== 'number' || !(count >= 1 && count <= MAX_SERIES_LENGTH)) return undefined;
  if (!Array.isArray(kinds) || kinds.length < 1 || kinds.length > MAX_KINDS) return undefined;
  const numbers = order === undefined ? '0'.repeat(count) : order;
  if (typeof numbers !== 'string' || numbers.length !== count || (order === undefined) !== (kinds.length === 1)) {
    return undefined;
  }
  const readers = kinds.map(readKind);
  const events: object[] = [];
  for (const digit of numbers) {
    const event = readers[Number(digit)]?.();
    if (event === undefined) return undefined;
    events.push(event);
  }
  return events;
}

/** Returns a function that creates the next event of a kind, or undefined if the columns have no more values. */
function readKind(kind: unknown): (() => object | undefined) | null {
  if (!isRecord(kind)) return null;
  const { event, columns } = kind as Readonly<Record<string, unknown>>;
  if (!isRecord(event) || !Array.isArray(columns)) return null;
  const readers = columns.map((column: unknown) => readColumn(column, event));
  if (!readers.every((reader) => reader !== null)) return null;
  let isFirst = true;
  return () => {
    if (isFirst) {
      isFirst = false;
      return event;
    }
    let next: object = event;
    for (const reader of readers) {
      const value = reader.next();
      if (value === undefined) return undefined;
      next = replaceAt(next, event, reader.path, 0, value);
    }
    return next;
  };
}

/** Returns a copy with one leaf replaced. Events share the objects that are equal in all of them. */
function replaceAt(target: object, shared: object, path: ColumnReader['path'], depth: number, value: Leaf): object {
  const key = path[depth] ?? '';
  const copy: object =
    target === shared ? (Array.isArray(target) ? [...(target as unknown[])] : { ...target }) : target;
  const isLast = depth === path.length - 1;
  const member = isLast
    ? value
    : replaceAt(Reflect.get(target, key) as object, Reflect.get(shared, key) as object, path, depth + 1, value);
  Reflect.set(copy, key, member);
  return copy;
}

type Path = readonly (string | number)[];

/** Consecutive values, run-length encoded: a pair is a value and its number of occurrences. */
type Runs<T extends Leaf> = readonly (T | readonly [value: T, times: number])[];

/** The values at one path from the second event on: differences of integers or times, or the values. */
type Column =
  | { readonly path: Path; readonly add: Runs<number> }
  | { readonly path: Path; readonly ms: Runs<number> }
  | { readonly path: Path; readonly values: Runs<Leaf> };

/** Creates the column for a path's values in all events; undefined if they are all equal. */
function createColumn(path: Path, values: readonly Leaf[]): Column | undefined {
  const [first] = values;
  if (first === undefined || values.every((value) => value === first)) return undefined;
  if (values.every((value) => Number.isSafeInteger(value))) {
    return { path, add: toRuns(computeDifferences(values as readonly number[])) };
  }
  const times = values.map(readTime);
  if (!times.includes(null)) return { path, ms: toRuns(computeDifferences(times as readonly number[])) };
  return { path, values: toRuns(values.slice(1)) };
}

interface ColumnReader {
  readonly path: Path;
  /** The next event's value, or undefined after the last. */
  next(): Leaf | undefined;
}

/** Parses a column; null if it is invalid, or its path does not exist in the event. */
function readColumn(column: unknown, event: object): ColumnReader | null {
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

type Leaf = string | number | boolean | null;

/** An event as a list of leaves. Two events with the same shape differ only in their leaves. */
interface FlatEvent {
  /** The keys of all objects, in order. */
  shape: string;
  readonly leaves: Leaf[];
}

const MAX_LEAVES = 48;
const MAX_TEXT_LENGTH = 128;
const MAX_DEPTH = 5;

/** Returns the leaves of a small event; null if it is too large or contains a value that a series cannot represent. */
function flatten(event: object): FlatEvent | null {
  const flat: FlatEvent = { shape: '', leaves: [] };
  return addMembers(flat, event, 0) ? flat : null;
}

function addMembers(flat: FlatEvent, value: object, depth: number): boolean {
  if (depth > MAX_DEPTH) return false;
  const isArray = Array.isArray(value);
  flat.shape += isArray ? '[' : '{';
  for (const key of Object.keys(value)) {
    const member: unknown = Reflect.get(value, key);
    // JSON omits undefined members.
    if (member === undefined && !isArray) continue;
    // Assigning to this key would change the object's prototype.
    if (key === '__proto__') return false;
    // The length makes the boundaries between keys unambiguous.
    if (!isArray) flat.shape += `${key.length}.${key}`;
    if (typeof member === 'object' && member !== null) {
      if (!addMembers(flat, member, depth + 1)) return false;
    } else if (isSmallLeaf(member)) {
      flat.leaves.push(member);
      flat.shape += ',';
      if (flat.leaves.length > MAX_LEAVES) return false;
    } else return false;
  }
  flat.shape += isArray ? ']' : '}';
  return true;
}

function isSmallLeaf(value: unknown): value is Leaf {
  if (typeof value === 'string') return value.length <= MAX_TEXT_LENGTH;
  return typeof value === 'boolean' || value === null || Number.isFinite(value);
}

/** Returns the paths of the leaves of an event, in the order of {@link flatten}. */
function listPaths(value: object, prefix: Path = []): Path[] {
  return Object.keys(value).flatMap((key) => {
    const member: unknown = Reflect.get(value, key);
    if (member === undefined) return [];
    const path = [...prefix, Array.isArray(value) ? Number(key) : key];
    return typeof member === 'object' && member !== null ? listPaths(member, path) : [path];
  });
}
