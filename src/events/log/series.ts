import { isRecord } from '../reading/record-fields.js';
import { createColumn, readColumn, type Column, type ColumnReader } from './column.js';
import { flatten, listPaths, type Leaf } from './flatten.js';

/**
 * The lines of an event log. An event is a line of JSON. A long series of small events that are alike is one line: the first
 * event of each kind, and by path what changes from one to the next. A flood of one-letter lines would otherwise take four
 * hundred times its bytes.
 */

/** Fewer events stay one per line: a log is for reading. */
const MIN_SERIES_LENGTH = 64;
/** A reader expands a whole series, also for one event of it. */
const MAX_SERIES_LENGTH = 2048;
const MAX_KINDS = 4;
/** A series must be this much smaller than its events on separate lines. */
const WORTHWHILE = 0.5;

/** A line with many events. */
interface SeriesLine {
  readonly series: 1;
  readonly count: number;
  readonly kinds: readonly KindOfEvent[];
  /** The kind of each event, a digit each; left out if there is one kind. */
  readonly order?: string;
}

interface KindOfEvent {
  readonly event: object;
  readonly columns: readonly Column[];
}

/**
 * The lines for events in their order, each ended by a newline.
 *
 * @example
 * encodeLines([{ seq: 1, text: 'a' }]) // '{"seq":1,"text":"a"}\n'
 */
export function encodeLines(events: readonly object[]): string {
  let lines = '';
  let start = 0;
  while (start < events.length) {
    const series = events.length - start < MIN_SERIES_LENGTH ? null : gatherSeries(events, start);
    const line = series === null ? null : encodeSeries(series);
    const end = series === null ? events.length : start + Math.max(1, series.order.length);
    if (line !== null) lines += `${line}\n`;
    else for (let index = start; index < end; index += 1) lines += `${JSON.stringify(events[index])}\n`;
    start = end;
  }
  return lines;
}

/** The events of a line; undefined if it holds none. */
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
  /** Of each event. */
  readonly rows: (readonly Leaf[])[];
  readonly paths: readonly (readonly (string | number)[])[];
}

interface GatheredSeries {
  readonly kinds: readonly Kind[];
  readonly order: readonly number[];
}

/** The longest series that begins with an event, at least empty. */
function gatherSeries(events: readonly object[], start: number): GatheredSeries {
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
function encodeSeries({ kinds, order }: GatheredSeries): string | null {
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
  const single = kinds.reduce((sum, { first, rows }) => sum + rows.length * JSON.stringify(first).length, 0);
  return text.length <= single * WORTHWHILE ? text : null;
}

/** The line may come from a folder that an agent can write to, so it is expanded only if the whole series is valid. */
function expandSeries(line: object): readonly object[] | undefined {
  const { series, count, kinds, order } = line as Readonly<Partial<Record<keyof SeriesLine, unknown>>>;
  if (series !== 1 || typeof count !== 'number' || !(count >= 1 && count <= MAX_SERIES_LENGTH)) return undefined;
  if (!Array.isArray(kinds) || kinds.length < 1 || kinds.length > MAX_KINDS) return undefined;
  const numbers = order === undefined ? '0'.repeat(count) : order;
  if (typeof numbers !== 'string' || numbers.length !== count || (order === undefined) !== (kinds.length === 1)) {
    return undefined;
  }
  const makers = kinds.map(readKind);
  const events: object[] = [];
  for (const digit of numbers) {
    const event = makers[Number(digit)]?.();
    if (event === undefined) return undefined;
    events.push(event);
  }
  return events;
}

/** Makes the next event of a kind; undefined if its columns do not fit. */
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

/** A copy with another leaf. What is the same in all events is shared by them. */
function replaceAt(target: object, shared: object, path: ColumnReader['path'], depth: number, value: Leaf): object {
  const key = path[depth] ?? '';
  const copy: object =
    target === shared ? (Array.isArray(target) ? [...(target as unknown[])] : { ...target }) : target;
  const isLeaf = depth === path.length - 1;
  const below = isLeaf
    ? value
    : replaceAt(Reflect.get(target, key) as object, Reflect.get(shared, key) as object, path, depth + 1, value);
  Reflect.set(copy, key, below);
  return copy;
}
