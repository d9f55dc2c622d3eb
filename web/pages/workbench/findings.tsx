import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { Badge } from '../../ui/badge.js';
import { REPAIR_DESCRIPTIONS } from '../../ui/json-labels.js';
import { SafeText } from '../../ui/safe-text.js';
import type { Inspection, ValueNote, Span, CandidateState, ValueRow, ValueView } from './inspection.js';
import { choose, selectedSpan } from './workbench-state.js';
import type { FinderName } from '../../../src/json/index.js';
import type { Tone } from '../../ui/notice.js';
import { VirtualList } from '../../ui/virtual-list.js';

/** The number of entries drawn initially, because drawing hundreds takes time. */
const INITIAL_ENTRIES = 25;

/** The findings as lists. Selecting an entry highlights it in the text. */
export function Findings({ inspection }: Readonly<{ inspection: Inspection }>) {
  const { candidates, repairs, notes, warnings } = inspection;
  const issues = notes.items.filter(({ kind }) => kind === 'issue');
  const changes = notes.items.filter(({ kind }) => kind === 'change');
  return (
    <>
      {candidates.total === 0 ? <p class="dim">No JSON found in the output.</p> : null}
      <FindingList title="Candidates" items={candidates.items} total={candidates.total}>
        {({ finder, state, code, reason, start, end }, index) => (
          <Entry key={index} span={{ start, end }}>
            <span class={`candidate-mark ${state}`}>
              {index + 1} {finder}
            </span>{' '}
            <Badge tone={STATE_LABELS[state].tone}>{STATE_LABELS[state].label}</Badge> {FINDER_DESCRIPTIONS[finder]}
            <span class="dim why">
              {code === null ? '' : `${code}: `}
              <SafeText text={reason} limit={300} />
            </span>
          </Entry>
        )}
      </FindingList>
      <FindingList title="Schema errors" items={issues} total={issues.length === 0 ? 0 : notes.total}>
        {renderNote}
      </FindingList>
      <FindingList title="Alignment" items={changes} total={changes.length === 0 ? 0 : notes.total}>
        {renderNote}
      </FindingList>
      <FindingList title="Repairs" items={repairs.items} total={repairs.total}>
        {({ kind, offset }, index) => (
          <Entry key={index} span={{ start: offset, end: offset + 1 }}>
            <mark class="repair-mark">{index + 1}</mark> <code>{kind}</code> {REPAIR_DESCRIPTIONS[kind]}
          </Entry>
        )}
      </FindingList>
      <FindingList title="Warnings" items={warnings} total={warnings.length}>
        {({ code, message, offset }, index) => (
          <Entry key={index} span={offset === undefined ? null : { start: offset, end: offset + 1 }}>
            <code>{code}</code> <SafeText text={message} limit={300} />
          </Entry>
        )}
      </FindingList>
    </>
  );
}

function renderNote({ path, message, span }: ValueNote, index: number) {
  return (
    <Entry key={index} span={span}>
      <SafeText as="code" text={path === '' ? '(root)' : path} limit={200} /> <SafeText text={message} limit={300} />
    </Entry>
  );
}

function FindingList<Item>(props: {
  readonly title: string;
  readonly items: readonly Item[];
  readonly total: number;
  readonly children: (item: Item, index: number) => ComponentChildren;
}) {
  const { title, items, total, children } = props;
  const showsAll = useSignal(false);
  if (total === 0) return null;
  const visibleItems = showsAll.value ? items : items.slice(0, INITIAL_ENTRIES);
  return (
    <section class="found">
      <h3>
        {title} <span class="dim">{total.toLocaleString('en')}</span>
      </h3>
      <ol class="entries">{visibleItems.map(children)}</ol>
      {visibleItems.length < items.length ? (
        <button type="button" class="link" onClick={() => (showsAll.value = true)}>
          {items.length - visibleItems.length} more
        </button>
      ) : null}
      {showsAll.value && items.length < total ? <p class="dim">Only the first {items.length} are listed.</p> : null}
    </section>
  );
}

function Entry({ span, children }: Readonly<{ span: Span | null; children: ComponentChildren }>) {
  if (span === null) return <li class="entry">{children}</li>;
  const isChosen =
    selectedSpan.value !== null && selectedSpan.value.start === span.start && selectedSpan.value.end === span.end;
  return (
    <li>
      <button type="button" class="entry" aria-pressed={isChosen} onClick={() => choose(isChosen ? null : span)}>
        {children}
      </button>
    </li>
  );
}

const FINDER_DESCRIPTIONS: Readonly<Record<FinderName, string>> = {
  whole: 'Whole output, without <think> blocks',
  tag: 'Inside <json> tags',
  ndjson: 'NDJSON line',
  envelope: 'Inside a JSON field',
  fence: 'In a code fence',
  prose: 'In prose',
};

const STATE_LABELS: Readonly<Record<CandidateState, Readonly<{ label: string; tone: Tone }>>> = {
  selected: { label: 'Selected', tone: 'good' },
  rejected: { label: 'Rejected', tone: 'bad' },
  alternative: { label: 'Also matches', tone: 'warn' },
  unchecked: { label: 'Not checked', tone: 'plain' },
};

const LINE_PX = 21;

/** A value, line by line, with the notes on each line. */
export function ValueRowsView({ value, label }: Readonly<{ value: ValueView; label: string }>) {
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
          <SafeText as="span" class="value-key" text={key} limit={300} />
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

function chooseIndent(depth: number): string {
  return `${Math.min(depth, 24) * 1.1 + 0.5}rem`;
}
