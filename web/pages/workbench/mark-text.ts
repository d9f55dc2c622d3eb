import type { Span } from './inspection.js';

/** A stretch of the text in which the same things are to be shown. */
export interface Segment {
  readonly start: number;
  readonly text: string;
  /** The innermost of the candidates that hold it, by its number in the list. */
  readonly candidate: number | null;
  /** Candidates that begin here. */
  readonly begins: readonly number[];
  /** Repairs that were made right before it. */
  readonly repairs: readonly number[];
  /** The note about it. */
  readonly note: number | null;
  readonly chosen: boolean;
}

/** The ranges to mark in a text; numbers are indexes into these lists. */
export interface Marks {
  readonly candidates: readonly Span[];
  readonly repairs: readonly { readonly offset: number }[];
  readonly notes: readonly (Span | null)[];
  readonly chosen: Span | null;
}

/** The most of a text that is drawn at a time. */
const WINDOW = 6000;

/** The part of a text to draw: all of a short one, else this much around the selection. */
export function windowAround(length: number, chosen: number): Span {
  if (length <= WINDOW) return { start: 0, end: length };
  const start = Math.max(0, Math.min(length - WINDOW, chosen - WINDOW / 4));
  return { start, end: start + WINDOW };
}

/**
 * Cuts a part of a text at every place where something begins or ends. Put together again, the segments are the part as it
 * was.
 */
export function markText(
  text: string,
  window: Span,
  { candidates, repairs, notes, chosen }: Marks,
): readonly Segment[] {
  const { start, end } = window;
  const placed = notes.filter((note) => note !== null);
  const spans = [...candidates, ...placed, ...(chosen === null ? [] : [chosen])];
  const cuts = new Set([
    start,
    ...spans.flatMap((span) => [span.start, span.end]),
    ...repairs.map((one) => one.offset),
  ]);
  const places = [...cuts]
    .filter((cut) => cut >= start && (cut < end || cut === start))
    .sort((one, other) => one - other);
  return places.map((from, index) => {
    const holds = (span: Span): boolean => span.start <= from && from < span.end;
    return {
      start: from,
      text: text.slice(from, places[index + 1] ?? end),
      candidate: innermost(candidates, holds),
      begins: findIndexes(candidates, (candidate) => candidate.start === from),
      repairs: findIndexes(
        repairs,
        (repair) => repair.offset === from || (from === places.at(-1) && repair.offset === end),
      ),
      note: innermost(notes, (note) => note !== null && holds(note)),
      chosen: chosen !== null && (holds(chosen) || (chosen.start === chosen.end && chosen.start === from)),
    };
  });
}

function innermost(spans: readonly (Span | null)[], holds: (span: Span) => boolean): number | null {
  let best: number | null = null;
  let shortest = Infinity;
  for (const [number, span] of spans.entries()) {
    if (span === null || !holds(span) || span.end - span.start >= shortest) continue;
    best = number;
    shortest = span.end - span.start;
  }
  return best;
}

function findIndexes<Item>(items: readonly Item[], fits: (item: Item) => boolean): readonly number[] {
  return items.flatMap((item, number) => (fits(item) ? [number] : []));
}
