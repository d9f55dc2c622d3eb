import { useEffect, useRef } from 'preact/hooks';
import { REPAIR_DESCRIPTIONS } from '../../ui/repair-labels.js';
import { SafeText } from '../../ui/safe-text.js';
import type { Inspection } from './inspection.js';
import { markText, chooseWindow, moveWindow } from './mark-text.js';
import type { Segment } from './mark-text.js';
import { choose, selectedSpan } from './workbench-state.js';

const NONE = { items: [], total: 0 };
const NOTHING_FOUND: Found = { candidates: NONE, repairs: NONE, notes: NONE };

type Found = Pick<Inspection, 'candidates' | 'repairs' | 'notes'>;

/** The input, or a window of a long input, with candidates outlined and all repairs and issues marked. */
export function MarkedText({ text, inspection }: { readonly text: string; readonly inspection: Inspection | null }) {
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
          <button
            type="button"
            disabled={window.start === 0}
            onClick={() => moveTo(moveWindow(window, text.length, -1))}
          >
            Previous
          </button>
          <span class="dim">
            {window.start.toLocaleString('en')} to {window.end.toLocaleString('en')} of{' '}
            {text.length.toLocaleString('en')}
          </span>
          <button
            type="button"
            disabled={window.end === text.length}
            onClick={() => moveTo(moveWindow(window, text.length, 1))}
          >
            Next
          </button>
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
