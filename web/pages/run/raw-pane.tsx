import { useState } from 'preact/hooks';
import { formatCount } from '../../ui/format.js';
import { SafeText } from '../../ui/safe-text.js';
import { VirtualList } from '../../ui/virtual-list.js';
import { Clock, EmptyPane, findStart } from './clock.js';
import type { OpenRun } from './open-run.js';
import type { RawText } from './raw-blocks.js';
import { ROW_BYTES } from './raw-rows.js';
import type { RawRow } from './raw-rows.js';
import { createRowCache } from './row-cache.js';
import { Button } from '../../ui/button.js';

/** The number of bytes shown in an unselected row. */
const PREVIEW_BYTES = 240;

/** The agent's captured output, frame by frame. The first selected row is shown in full. */
export function RawPane({ run, isLive }: Readonly<{ run: OpenRun; isLive: boolean }>) {
  void run.redraws.raw.value;
  const [cache] = useState(createRowCache);
  const { rows } = run.data;
  const replayTime = run.replayTime.value;
  const highlight = run.highlight.value;
  const count = replayTime === null ? rows.count() : rows.countAt(replayTime);
  const start = findStart(run);
  const choose = (index: number): void => {
    const { attempt_number, stream, byte_from, byte_to } = rows.row(index);
    run.selection.value = { pane: 'raw', attempt_number, stream, byte_from, byte_to };
  };
  const row = (index: number) => {
    const rawRow = rows.row(index);
    const isHighlighted = highlight?.bytes.overlaps(rawRow) ?? false;
    const isOpen = highlight?.row === index;
    const text = run.blocks.text(rawRow, isOpen ? ROW_BYTES : PREVIEW_BYTES);
    return cache(index, [start, isHighlighted, isOpen, ...Object.values(text)], () => (
      <RawRowView
        row={rawRow}
        text={text}
        start={start}
        isHighlighted={isHighlighted}
        isOpen={isOpen}
        onChoose={() => choose(index)}
      />
    ));
  };
  if (count === 0) {
    return <EmptyPane run={run} isLive={isLive} text={isLive ? 'No bytes yet.' : 'No bytes up to this point.'} />;
  }
  return (
    <div class="raw-pane">
      <VirtualList
        label="Raw bytes"
        count={count}
        estimate={67}
        row={row}
        target={replayTime === null ? (highlight?.row ?? null) : count - 1}
        active={highlight?.row ?? null}
        follow={isLive && replayTime === null}
        onMove={choose}
      />
      <RawProblems problems={run.blocks.problems()} onRetry={run.blocks.retry} />
    </div>
  );
}

/** Why bytes cannot be read. Each reason is shown once, below the rows, so the rows do not move. */
function RawProblems({ problems, onRetry }: Readonly<{ problems: readonly string[]; onRetry: () => void }>) {
  return (
    <div class="raw-problems" role="status" hidden={problems.length === 0}>
      {problems.map((problem) => (
        <p key={problem}>
          <SafeText text={problem} />
        </p>
      ))}
      {problems.length === 0 ? null : <Button label="Try again" onClick={onRetry} />}
    </div>
  );
}

function RawRowView({
  row,
  text,
  start,
  isHighlighted,
  isOpen,
  onChoose,
}: Readonly<{
  row: RawRow;
  text: RawText;
  start: number;
  isHighlighted: boolean;
  isOpen: boolean;
  onChoose: () => void;
}>) {
  const length = row.byte_to - row.byte_from;
  return (
    <div class={`raw-row ${row.stream}${isHighlighted ? ' highlighted' : ''}${isOpen ? ' open' : ''}`}>
      <button type="button" class="choose raw-head" tabIndex={-1} aria-pressed={isHighlighted} onClick={onChoose}>
        <span class="raw-stream">
          {row.stream}
          {row.attempt_number > 1 ? ` ${row.attempt_number}` : ''}
        </span>
        <span class="dim">
          {formatCount(row.byte_from)} + {formatCount(length)}
        </span>
        <span class="end">
          {row.at === null ? <span class="dim">No event</span> : <Clock at={row.at} start={start} />}
        </span>
      </button>
      <pre class="raw-text">
        <RawContent text={text} />
        {text.state === 'loaded' && !isOpen && length > PREVIEW_BYTES ? <span class="dim"> …</span> : null}
      </pre>
    </div>
  );
}

function RawContent({ text }: Readonly<{ text: RawText }>) {
  switch (text.state) {
    case 'loaded':
      return <SafeText text={text.text} />;
    case 'loading':
      return <span class="dim">…</span>;
    case 'truncated':
      return <span class="dim">The captured file ends before these bytes.</span>;
    case 'unreadable':
      return <span class="dim">Not available</span>;
  }
}
