import { signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { WaitingEntry } from '../../../src/api/index.js';
import { hasScope, session } from '../../app/session.js';
import { delayedActions } from '../../server/delayed-actions.js';
import { entryPath } from '../../server/waiting.js';
import type { Waiting } from '../../server/waiting.js';
import { Badge } from '../../ui/badge.js';
import { FilterText } from '../../ui/filter-field.js';
import type { Tone } from '../../ui/notice.js';
import { SafeText } from '../../ui/safe-text.js';
import { formatWait } from '../../ui/time.js';
import { ROW, useRowKeys } from '../../ui/use-row-keys.js';
import { useDraft } from '../../ui/use-draft.js';
import { InlineAnswer } from './inline-answer.js';
import { entryTitle, groupEntries, labelAction, listBulkActions, needsReason } from './queue.js';
import { sendLater } from './send-action.js';

/** The entries selected for a bulk action. */
const marked = signal<ReadonlySet<string>>(new Set());

/** The queue: search, marks and what is done with them, and the entries under their headings. */
export function Queue({
  entries,
  known,
  chosen,
  isNamed,
}: {
  readonly entries: readonly WaitingEntry[];
  readonly known: Waiting;
  readonly chosen: string | null;
  /** A person has selected it; on a narrow screen it is then shown instead of the list. */
  readonly isNamed: boolean;
}) {
  const rows = useRef<HTMLDivElement>(null);
  useRowKeys(rows);
  useMarkKey();
  const leaving = new Set(delayedActions.value.flatMap(({ about, state }) => (state === 'failed' ? [] : about)));
  const open = entries.filter(({ id }) => !leaving.has(id));
  const selected = open.filter(({ id }) => marked.value.has(id));
  return (
    <div class="inbox-list" ref={rows}>
      <form class="queue-search" role="search" onSubmit={(event) => event.preventDefault()}>
        <FilterText name="search" label="Search the queue" type="search" placeholder="issue, question, reason, code" />
      </form>
      <BulkBar open={open} selected={selected} />
      {entries.length === 0 ? <EmptyQueue isFiltered={known.entries.length > 0} /> : null}
      {groupEntries(entries).map(({ title, entries: some }) => (
        <section key={title} aria-label={title}>
          <h2 class="queue-title">
            {title} <span class="dim">{some.length}</span>
          </h2>
          <ul class="inbox-rows">
            {some.map((entry) => (
              <Row
                key={entry.id}
                entry={entry}
                isChosen={entry.id === chosen}
                isOpenBeside={entry.id === chosen && isNamed}
                isLeaving={leaving.has(entry.id)}
              />
            ))}
          </ul>
        </section>
      ))}
      {known.complete ? null : <p class="dim">Not all entries are listed. More appear as these are settled.</p>}
    </div>
  );
}

function EmptyQueue({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) return <p class="dim">Nothing in the queue matches the search.</p>;
  return (
    <div class="card empty">
      <strong>Nothing is waiting for you</strong>
      <p>
        Questions and permission requests of agents appear here, and results that cannot be accepted automatically, with
        their evidence.
      </p>
    </div>
  );
}

const KINDS: Readonly<Record<WaitingEntry['kind'], { readonly word: string; readonly tone: Tone }>> = {
  question: { word: 'question', tone: 'warn' },
  permission: { word: 'permission', tone: 'warn' },
  sink: { word: 'sink', tone: 'bad' },
  result: { word: 'result', tone: 'plain' },
};

function Row({
  entry,
  isChosen,
  isOpenBeside,
  isLeaving,
}: {
  readonly entry: WaitingEntry;
  readonly isChosen: boolean;
  readonly isOpenBeside: boolean;
  readonly isLeaving: boolean;
}) {
  const { id, kind, at, text } = entry;
  const { word, tone } = KINDS[kind];
  const title = entryTitle(entry);
  const isMarked = marked.value.has(id);
  return (
    <li class={`entry ${kind}${isChosen ? ' chosen' : ''}${isLeaving ? ' leaving' : ''}`} data-entry={id}>
      {kind === 'question' ? (
        <span class="entry-mark" />
      ) : (
        <input
          class="entry-mark"
          type="checkbox"
          checked={isMarked}
          disabled={isLeaving}
          aria-label={`Select ${title}`}
          onChange={() => toggleMark(id)}
        />
      )}
      <a {...ROW} class="entry-link" href={entryPath(entry)} aria-current={isChosen ? 'true' : undefined}>
        <span class="row">
          <strong class="one-line">
            <SafeText text={title.slice(0, 120)} />
          </strong>
          {kind === 'result' ? null : <Badge tone={tone}>{word}</Badge>}
          <span class="dim end">{isLeaving ? 'sending …' : formatWait(Date.now() - Date.parse(at))}</span>
        </span>
        <span class="clip entry-text">
          <SafeText text={text.slice(0, 300)} />
        </span>
        <EntryNote entry={entry} />
      </a>
      {isLeaving || (entry.kind !== 'question' && entry.kind !== 'permission') || !hasScope('run') ? null : (
        <InlineAnswer entry={entry} isOpenBeside={isOpenBeside || isChosen} />
      )}
    </li>
  );
}

function EntryNote({ entry }: { readonly entry: WaitingEntry }) {
  switch (entry.kind) {
    case 'question':
    case 'permission':
      return (
        <span class="dim one-line small">
          {entry.engine}
          {entry.issue_ref === null ? '' : `, ${entry.issue_ref}`}
        </span>
      );
    case 'sink':
      return (
        <span class="dim small">
          {entry.open + entry.dead} {entry.open + entry.dead === 1 ? 'comment' : 'comments'} not delivered
        </span>
      );
    case 'result':
      return (
        <code class="dim small">
          <SafeText text={entry.code} />
        </code>
      );
  }
}

function toggleMark(id: string): void {
  const next = new Set(marked.peek());
  if (!next.delete(id)) next.add(id);
  marked.value = next;
}

/** `x` marks the row that has the focus. */
function useMarkKey(): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.key !== 'x' || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const row = event.target instanceof HTMLElement && event.target.matches('[data-row]') ? event.target : null;
      const box = row?.closest('.entry')?.querySelector<HTMLInputElement>('input.entry-mark:enabled');
      const id = row?.closest<HTMLElement>('.entry')?.dataset['entry'];
      if (box === undefined || box === null || id === undefined) return;
      event.preventDefault();
      toggleMark(id);
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
}

/** The actions on the selected entries. It keeps its place, so that the list does not move when an entry is selected. */
function BulkBar({
  open,
  selected,
}: {
  readonly open: readonly WaitingEntry[];
  readonly selected: readonly WaitingEntry[];
}) {
  const why = useSignal('');
  const isAsked = useSignal(false);
  const name = useDraft('who', { who: '' });
  const isLocal = session.value.state === 'signed-in' && session.value.name === 'local';
  const actions = listBulkActions(selected).filter((action) =>
    hasScope(action === 'allow' || action === 'deny' ? 'run' : 'decide'),
  );
  const isReasoned = actions.some(needsReason);
  const marks = open.filter(({ kind }) => kind !== 'question');
  const isMissing = isAsked.value && why.value.trim() === '';
  const clear = (): void => {
    marked.value = new Set();
    why.value = '';
    isAsked.value = false;
  };
  return (
    <div class="bulk-bar" role="group" aria-label="Several entries at once">
      <label class="row">
        <input
          type="checkbox"
          disabled={marks.length === 0}
          checked={marks.length > 0 && selected.length === marks.length}
          onChange={({ currentTarget }) =>
            currentTarget.checked ? (marked.value = new Set(marks.map(({ id }) => id))) : clear()
          }
        />
        {selected.length === 0 ? 'Select all' : `${selected.length} selected`}
      </label>
      <span class="row end">
        {selected.length > 0 && actions.length === 0 ? <span class="dim">Select entries of one kind.</span> : null}
        {actions.map((action) => (
          <button
            key={action}
            type="button"
            onClick={() => {
              isAsked.value = true;
              if (needsReason(action) && why.value.trim() === '') return;
              sendLater(action, selected, { why: why.value.trim(), who: isLocal ? name.fields.who.trim() : '' });
              clear();
            }}
          >
            {labelAction(action)}
          </button>
        ))}
      </span>
      {isReasoned ? (
        <input
          class="bulk-why"
          type="text"
          aria-label="Why, for all selected"
          placeholder={isMissing ? 'A reason is needed: it is quoted in each comment' : 'Why (quoted in each comment)'}
          aria-invalid={isMissing}
          maxLength={5000}
          value={why.value}
          onInput={({ currentTarget }) => (why.value = currentTarget.value)}
        />
      ) : null}
    </div>
  );
}
