import { isRecord } from '../reading/record-fields.js';
import { createColumn, readColumn, type Column, type ColumnReader } from './column.js';
import { flatten, listPaths, type Leaf } from './flatten.js';

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

/** A line with many events. */
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

/**
 * Encodes events as lines, in order, each with a newline.
 *
 * @example
 * encodeLines([{ seq: 1, text: 'a' }]) // '{"seq":1,"text":"a"}\n'
 */
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
  /** The leaves of each event. */
  readonly rows: (readonly Leaf[])[];
  readonly paths: readonly (readonly (string | number)[])[];
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
  const isLeaf = depth === path.length - 1;
  const member = isLeaf
    ? value
    : replaceAt(Reflect.get(target, key) as object, Reflect.get(shared, key) as object, path, depth + 1, value);
  Reflect.set(copy, key, member);
  return copy;
}
