import { useEffect, useRef } from 'preact/hooks';
import { REPAIR_DESCRIPTIONS } from '../../ui/json-labels.js';
import { SafeText } from '../../ui/safe-text.js';
import type { Inspection, Span } from './inspection.js';
import { choose, selectedSpan } from './workbench-state.js';
import { Button } from '../../ui/button.js';

const NONE = { items: [], total: 0 };
const NOTHING_FOUND: Found = { candidates: NONE, repairs: NONE, notes: NONE };

type Found = Pick<Inspection, 'candidates' | 'repairs' | 'notes'>;

/** The input, or a window of a long input, with candidates outlined and all repairs and issues marked. */
export function MarkedText({ text, inspection }: Readonly<{ text: string; inspection: Inspection | null }>) {
  const box = useRef<HTMLPreElement>(null);
  // Until the input is parsed, it is shown without marks.
  const { candidates, repairs, notes } = inspection ?? NOTHING_FOUND;
  const focus = selectedSpan.value ?? {
    start: candidates.items.find(({ state }) => state === 'selected')?.start ?? 0,
    end: 0,
  };
  const window = chooseWindow(text.length, focus.start);
  const segments = markText(text, window, {
    candidates: candidates.items,
    repairs: repairs.items,
    notes: notes.items.map(({ span }) => span),
    chosen: selectedSpan.value,
  });

  useEffect(() => {
    const selected = box.current?.querySelector<HTMLElement>('.chosen');
    if (box.current === null || selected === null || selected === undefined) return;
    // Only the box scrolls, not the page.
    box.current.scrollTop = selected.offsetTop - box.current.clientHeight / 3;
  }, [selectedSpan.value]);

  return (
    <div class="body marked-frame">
      <pre class="marked" ref={box} tabIndex={0} role="region" aria-label="Model output with findings marked">
        {segments.map((segment) => (
          <Part key={segment.start} segment={segment} found={{ candidates, repairs, notes }} />
        ))}
      </pre>
      {window.end - window.start < text.length ? (
        <div class="row">
          <Button
            label="Previous"
            disabled={window.start === 0}
            onClick={() => moveTo(moveWindow(window, text.length, -1))}
          />
          <span class="dim">
            {window.start.toLocaleString('en')} to {window.end.toLocaleString('en')} of{' '}
            {text.length.toLocaleString('en')}
          </span>
          <Button
            label="Next"
            disabled={window.end === text.length}
            onClick={() => moveTo(moveWindow(window, text.length, 1))}
          />
        </div>
      ) : null}
    </div>
  );
}

function moveTo(start: number): void {
  choose({ start, end: start });
}

function Part({
  segment,
  found: { candidates, repairs, notes },
}: {
  readonly segment: Segment;
  readonly found: Found;
}) {
  const candidate = segment.candidate === null ? undefined : candidates.items[segment.candidate];
  const note = segment.note === null ? undefined : notes.items[segment.note];
  const classes = [
    // The whole input is not outlined if it was rejected, because parts of it can still match.
    candidate === undefined || (candidate.finder === 'whole' && candidate.state !== 'selected')
      ? ''
      : `candidate ${candidate.state}`,
    note === undefined ? '' : `noted ${note.kind}`,
    segment.chosen ? 'chosen' : '',
  ];
  return (
    <span class={classes.filter((name) => name !== '').join(' ')} title={note?.message}>
      {segment.starts.map((number) => (
        <span key={number} class={`candidate-mark ${candidates.items[number]?.state ?? ''}`}>
          {number + 1} {candidates.items[number]?.finder}
        </span>
      ))}
      {segment.repairs.map((number) => {
        const repair = repairs.items[number];
        if (repair === undefined) return null;
        return (
          <mark key={number} class="repair-mark" title={`${repair.kind}: ${REPAIR_DESCRIPTIONS[repair.kind]}`}>
            {number + 1}
          </mark>
        );
      })}
      <SafeText text={segment.text} />
    </span>
  );
}

interface Segment {
  readonly start: number;
  readonly text: string;
  /** The index of the innermost candidate that contains it. */
  readonly candidate: number | null;
  readonly starts: readonly number[];
  /** Repairs directly before it. */
  readonly repairs: readonly number[];
  readonly note: number | null;
  readonly chosen: boolean;
}

/** The ranges to mark. The numbers in a {@link Segment} are indexes into these lists. */
interface Marks {
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
