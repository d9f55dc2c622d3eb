import type { Span } from './inspection.js';

/** A part of the input with uniform marks. */
export interface Segment {
  readonly start: number;
  readonly text: string;
  /** The index of the innermost candidate that contains it. */
  readonly candidate: number | null;
  /** Candidates that start here. */
  readonly starts: readonly number[];
  /** Repairs directly before it. */
  readonly repairs: readonly number[];
  /** The note about it. */
  readonly note: number | null;
  readonly chosen: boolean;
}

/** The ranges to mark. The numbers in a {@link Segment} are indexes into these lists. */
export interface Marks {
  readonly candidates: readonly Span[];
  readonly repairs: readonly { readonly offset: number }[];
  readonly notes: readonly (Span | null)[];
  readonly chosen: Span | null;
}

/** The maximum number of characters drawn at a time. */
const WINDOW_LENGTH = 6000;

/** Returns the part to draw: all of a short input, otherwise a window around the selection. */
export function chooseWindow(length: number, chosen: number): Span {
  if (length <= WINDOW_LENGTH) return { start: 0, end: length };
  const start = Math.max(0, Math.min(length - WINDOW_LENGTH, chosen - WINDOW_LENGTH / 4));
  return { start, end: start + WINDOW_LENGTH };
}

/** The number of characters to move a window by: less than its length, so windows overlap. */
const WINDOW_STEP = 5500;

/** Returns the position to pass to {@link chooseWindow} for the next or the previous window. */
export function moveWindow({ start }: Span, length: number, direction: 1 | -1): number {
  return Math.max(0, Math.min(length, start + direction * WINDOW_STEP + WINDOW_LENGTH / 4));
}

/** Splits a part of the input wherever a mark starts or ends. The joined segments equal the part. */
export function markText(
  text: string,
  window: Span,
  { candidates, repairs, notes, chosen }: Marks,
): readonly Segment[] {
  const { start, end } = window;
  const locatedNotes = notes.filter((note) => note !== null);
  const spans = [...candidates, ...locatedNotes, ...(chosen === null ? [] : [chosen])];
  const cuts = new Set([
    start,
    ...spans.flatMap((span) => [span.start, span.end]),
    ...repairs.map((repair) => repair.offset),
  ]);
  const starts = [...cuts]
    .filter((cut) => cut >= start && (cut < end || cut === start))
    .sort((one, other) => one - other);
  return starts.map((from, index) => {
    const contains = (span: Span): boolean => span.start <= from && from < span.end;
    return {
      start: from,
      text: text.slice(from, starts[index + 1] ?? end),
      candidate: findInnermost(candidates, contains),
      starts: findIndexes(candidates, (candidate) => candidate.start === from),
      repairs: findIndexes(
        repairs,
        (repair) => repair.offset === from || (from === starts.at(-1) && repair.offset === end),
      ),
      note: findInnermost(notes, (note) => note !== null && contains(note)),
      chosen: chosen !== null && (contains(chosen) || (chosen.start === chosen.end && chosen.start === from)),
    };
  });
}

function findInnermost(spans: readonly (Span | null)[], contains: (span: Span) => boolean): number | null {
  let best: number | null = null;
  let shortest = Infinity;
  for (const [number, span] of spans.entries()) {
    if (span === null || !contains(span) || span.end - span.start >= shortest) continue;
    best = number;
    shortest = span.end - span.start;
  }
  return best;
}

function findIndexes<Item>(items: readonly Item[], matches: (item: Item) => boolean): readonly number[] {
  return items.flatMap((item, number) => (matches(item) ? [number] : []));
}
