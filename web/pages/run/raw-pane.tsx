import { formatCount } from '../../ui/format.js';
import { SafeText } from '../../ui/safe-text.js';
import { Clock, findStart } from './clock.js';
import type { RawText } from './raw-blocks.js';
import { ROW_BYTES, type RawRow } from './raw-rows.js';
import { PaneList, type PaneProps } from './pane-list.js';
import { Button } from '../../ui/button.js';

const PREVIEW_BYTES = 240;

/** The agent's captured output, frame by frame. The first selected row is shown in full. */
export function RawPane({ run, isLive }: PaneProps) {
  void run.redraws.raw.value;
  const { rows } = run.data;
  const replayTime = run.replayTime.value;
  const highlight = run.highlight.value;
  const start = findStart(run);
  const onChoose = (index: number): void => {
    const { attempt_number, stream, byte_from, byte_to } = rows.row(index);
    run.selection.value = { pane: 'raw', attempt_number, stream, byte_from, byte_to };
  };
  return (
    <div class="raw-pane">
      <PaneList
        run={run}
        isLive={isLive}
        label="Raw bytes"
        noun="bytes"
        estimate={67}
        count={replayTime === null ? rows.count() : rows.countAt(replayTime)}
        selected={highlight?.row ?? null}
        onChoose={onChoose}
        row={(index) => {
          const row = rows.row(index);
          const isHighlighted = highlight?.bytes.overlaps(row) ?? false;
          const isOpen = highlight?.row === index;
          const text = run.blocks.text(row, isOpen ? ROW_BYTES : PREVIEW_BYTES);
          const props = { row, text, start, isHighlighted, isOpen };
          const dependencies = [start, isHighlighted, isOpen, ...Object.values(text)];
          return [dependencies, () => <RawRowView {...props} onChoose={() => onChoose(index)} />];
        }}
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

function RawRowView(
  props: Readonly<{
    row: RawRow;
    text: RawText;
    start: number;
    isHighlighted: boolean;
    isOpen: boolean;
    onChoose: () => void;
  }>,
) {
  const { row, text, start, isHighlighted, isOpen, onChoose } = props;
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
  return text.state === 'loaded' ? <SafeText text={text.text} /> : <span class="dim">{NOT_LOADED[text.state]}</span>;
}

const NOT_LOADED = {
  loading: '…',
  truncated: 'The captured file ends before these bytes.',
  unreadable: 'Not available',
} as const;
