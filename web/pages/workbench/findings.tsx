import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { Badge } from '../../ui/badge.js';
import { REPAIR_WORDS } from '../../ui/repair-words.js';
import { SafeText } from '../../ui/safe-text.js';
import type { Inspection, PlaceNote, Span, CandidateState } from './inspection.js';
import { choose, chosen } from './workbench-state.js';
import type { FinderName } from '../../../src/json/index.js';
import type { Tone } from '../../ui/notice.js';

/** A longer list is drawn in full only on request: hundreds of entries take time to draw. */
const FIRST_SHOWN = 25;

/** The findings as lists: selecting an entry shows its place in the text. */
export function Findings({ inspection }: { readonly inspection: Inspection }) {
  const { candidates, repairs, notes, warnings } = inspection;
  const issues = notes.items.filter(({ kind }) => kind === 'issue');
  const changes = notes.items.filter(({ kind }) => kind === 'change');
  return (
    <>
      {candidates.total === 0 ? <p class="dim">No JSON found in the text.</p> : null}
      <Found title="Candidates" items={candidates.items} total={candidates.total}>
        {({ finder, state, code, reason, start, end }, index) => (
          <Entry key={index} span={{ start, end }}>
            <span class={`candidate-mark ${state}`}>
              {index + 1} {finder}
            </span>{' '}
            <Badge tone={STATE_WORDS[state].tone}>{STATE_WORDS[state].word}</Badge> {FINDER_WORDS[finder]}
            <span class="dim why">
              {code === null ? '' : `${code}: `}
              <SafeText text={reason} limit={300} />
            </span>
          </Entry>
        )}
      </Found>
      <Found title="Schema errors" items={issues} total={issues.length === 0 ? 0 : notes.total}>
        {noteEntry}
      </Found>
      <Found title="Alignment" items={changes} total={changes.length === 0 ? 0 : notes.total}>
        {noteEntry}
      </Found>
      <Found title="Repairs" items={repairs.items} total={repairs.total}>
        {({ kind, offset }, index) => (
          <Entry key={index} span={{ start: offset, end: offset + 1 }}>
            <mark class="repair-mark">{index + 1}</mark> <code>{kind}</code> {REPAIR_WORDS[kind]}
          </Entry>
        )}
      </Found>
      <Found title="Warnings" items={warnings} total={warnings.length}>
        {({ code, message, offset }, index) => (
          <Entry key={index} span={offset === undefined ? null : { start: offset, end: offset + 1 }}>
            <code>{code}</code> <SafeText text={message} limit={300} />
          </Entry>
        )}
      </Found>
    </>
  );
}

function noteEntry({ place, message, span }: PlaceNote, index: number) {
  return (
    <Entry key={index} span={span}>
      <code>
        <SafeText text={place === '' ? 'the root' : place} limit={200} />
      </code>{' '}
      <SafeText text={message} limit={300} />
    </Entry>
  );
}

function Found<Item>({
  title,
  items,
  total,
  children,
}: {
  readonly title: string;
  readonly items: readonly Item[];
  readonly total: number;
  readonly children: (item: Item, index: number) => ComponentChildren;
}) {
  const isWhole = useSignal(false);
  if (total === 0) return null;
  const shown = isWhole.value ? items : items.slice(0, FIRST_SHOWN);
  return (
    <section class="found">
      <h3>
        {title} <span class="dim">{total.toLocaleString('en')}</span>
      </h3>
      <ol class="entries">{shown.map(children)}</ol>
      {shown.length < items.length ? (
        <button type="button" class="link" onClick={() => (isWhole.value = true)}>
          {items.length - shown.length} more
        </button>
      ) : null}
      {isWhole.value && items.length < total ? <p class="dim">The first {items.length} are listed.</p> : null}
    </section>
  );
}

/** An entry that shows its place when it is chosen; without a place it is only read. */
function Entry({ span, children }: { readonly span: Span | null; readonly children: ComponentChildren }) {
  if (span === null) return <li class="entry">{children}</li>;
  const isChosen = chosen.value !== null && chosen.value.start === span.start && chosen.value.end === span.end;
  return (
    <li>
      <button type="button" class="entry" aria-pressed={isChosen} onClick={() => choose(isChosen ? null : span)}>
        {children}
      </button>
    </li>
  );
}

/** Names of the finders. */
const FINDER_WORDS: Readonly<Record<FinderName, string>> = {
  whole: 'the whole text, without <think> blocks',
  tag: 'inside <json> tags',
  ndjson: 'a line of NDJSON',
  envelope: 'inside a field of a JSON document',
  fence: 'in a code fence',
  prose: 'in running text',
};

/** Its outcome. */
const STATE_WORDS: Readonly<Record<CandidateState, { readonly word: string; readonly tone: Tone }>> = {
  taken: { word: 'selected', tone: 'good' },
  refused: { word: 'rejected', tone: 'bad' },
  rival: { word: 'also matches', tone: 'warn' },
  spare: { word: 'not tried', tone: 'plain' },
};
