import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { Badge, type Tone } from '../../ui/parts.js';
import { formatCount, SafeText } from '../../ui/text.js';
import type { Inspection, ValueNote, Span, CandidateState, ValueRow, ValueView } from './inspection.js';
import { choose, selectedSpan } from './workbench-state.js';
import { VirtualList } from '../../ui/virtual-list.js';
import { t } from './texts.js';

/** The number of entries drawn initially, because drawing hundreds takes time. */
const INITIAL_ENTRIES = 25;

/** Returns the text for what the worker reports by name; other texts, such as a parser's message, stay as they are. */
export function explain(text: string): string {
  const texts: Readonly<Record<string, string>> = { ...t.reported, ...t.levels };
  return Object.hasOwn(texts, text) ? (texts[text] ?? text) : text;
}

/** The findings as lists. Selecting an entry highlights it in the text. */
export function Findings({ inspection }: Readonly<{ inspection: Inspection }>) {
  const { candidates, repairs, notes, warnings } = inspection;
  const issues = notes.items.filter(({ kind }) => kind === 'issue');
  const changes = notes.items.filter(({ kind }) => kind === 'change');
  return (
    <>
      {candidates.total === 0 ? <p class="dim">{t.noJsonFoundInThe}</p> : null}
      <FindingList title={t.candidates} items={candidates.items} total={candidates.total}>
        {({ finder, state, code, reason, start, end }, index) => (
          <Entry key={index} span={{ start, end }}>
            <span class={`candidate-mark ${state}`}>
              {index + 1} {finder}
            </span>{' '}
            <Badge tone={STATE_LABELS[state].tone}>{STATE_LABELS[state].label}</Badge> {t.finders[finder]}
            <span class="dim why">
              {code === null ? '' : `${code}: `}
              <SafeText text={explain(reason)} limit={300} />
            </span>
          </Entry>
        )}
      </FindingList>
      <FindingList title={t.schemaErrors} items={issues} total={issues.length === 0 ? 0 : notes.total}>
        {renderNote}
      </FindingList>
      <FindingList title={t.alignment} items={changes} total={changes.length === 0 ? 0 : notes.total}>
        {renderNote}
      </FindingList>
      <FindingList title={t.repairs} items={repairs.items} total={repairs.total}>
        {({ kind, offset }, index) => (
          <Entry key={index} span={{ start: offset, end: offset + 1 }}>
            <mark class="repair-mark">{index + 1}</mark> <code>{kind}</code> {t.repairKinds[kind]}
          </Entry>
        )}
      </FindingList>
      <FindingList title={t.warnings} items={warnings} total={warnings.length}>
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
      <SafeText as="code" text={path === '' ? t.root : path} limit={200} /> <SafeText text={message} limit={300} />
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
        {title} <span class="dim">{formatCount(total)}</span>
      </h3>
      <ol class="list entries">{visibleItems.map(children)}</ol>
      {visibleItems.length < items.length ? (
        <button type="button" class="link" onClick={() => (showsAll.value = true)}>
          {t.more(items.length - visibleItems.length)}
        </button>
      ) : null}
      {showsAll.value && items.length < total ? <p class="dim">{t.firstEntries(items.length)}</p> : null}
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

const STATE_LABELS: Readonly<Record<CandidateState, Readonly<{ label: string; tone: Tone }>>> = {
  selected: { label: t.selected, tone: 'good' },
  rejected: { label: t.rejected, tone: 'bad' },
  alternative: { label: t.alsoMatches, tone: 'plain' },
  unchecked: { label: t.notChecked, tone: 'plain' },
};

const LINE_PX = 21;

/** A value, line by line, with the notes on each line. */
export function ValueRowsView({ value, label }: Readonly<{ value: ValueView; label: string }>) {
  const { rows, isTruncated } = value;
  return (
    <div class="body value-frame">
      <div class="value-rows mono">
        <VirtualList label={label} count={rows.length} estimate={LINE_PX} row={(index) => drawRow(rows[index])} />
      </div>
      {isTruncated ? <p class="dim">{t.firstLines(formatCount(rows.length))}</p> : null}
    </div>
  );
}

function drawRow(row: ValueRow | undefined): ComponentChildren {
  if (row === undefined) return null;
  const { depth, key, text, notes } = row;
  const paddingLeft = `${Math.min(depth, 24) * 1.1 + 0.5}rem`;
  return (
    <div class={notes.length > 0 ? 'value-row noted' : 'value-row'} style={{ paddingLeft }}>
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
