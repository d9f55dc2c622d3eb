import { SafeText } from '../../ui/safe-text.js';
import { VirtualList } from '../../ui/virtual-list.js';
import type { ValueRow, ValueView } from './inspection.js';

/** The estimated height of a line, in pixels. */
const LINE_PX = 21;

/** A value, line by line, with the notes on each line. */
export function ValueRowsView({ value, label }: { readonly value: ValueView; readonly label: string }) {
  const { rows, isTruncated } = value;
  return (
    <div class="body value-frame">
      <div class="value-rows mono">
        <VirtualList
          label={label}
          count={rows.length}
          estimate={LINE_PX}
          row={(index) => {
            const row = rows[index];
            return row === undefined ? null : <Line row={row} />;
          }}
        />
      </div>
      {isTruncated ? <p class="dim">Only the first {rows.length.toLocaleString('en')} lines are shown.</p> : null}
    </div>
  );
}

function Line({ row: { depth, key, text, notes } }: { readonly row: ValueRow }) {
  return (
    <div class={notes.length > 0 ? 'value-row noted' : 'value-row'} style={{ paddingLeft: chooseIndent(depth) }}>
      {key === null ? null : (
        <>
          <span class="value-key">
            <SafeText text={key} limit={300} />
          </span>
          {': '}
        </>
      )}
      <SafeText text={text} limit={1500} />
      {notes.map(({ kind, path, message }, number) => (
        <span key={number} class={`value-note ${kind}`}>
          <SafeText text={path === '' ? message : `${path}: ${message}`} limit={300} />
        </span>
      ))}
    </div>
  );
}

/** Limits the indentation, so deep values stay on the page. */
function chooseIndent(depth: number): string {
  return `${Math.min(depth, 24) * 1.1 + 0.5}rem`;
}
