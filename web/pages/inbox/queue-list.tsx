import { signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { WaitingEntry } from '../../../src/api/index.js';
import { hasScope, session } from '../../app/session.js';
import { delayedActions } from '../../server/delayed-actions.js';
import { getEntryPath } from '../../server/waiting.js';
import type { Waiting } from '../../server/waiting.js';
import { Badge } from '../../ui/badge.js';
import { FilterText } from '../../ui/filter-field.js';
import type { Tone } from '../../ui/notice.js';
import { SafeText } from '../../ui/safe-text.js';
import { formatWait } from '../../ui/time.js';
import { ROW, useRowKeys } from '../../ui/use-row-keys.js';
import { useDraft } from '../../ui/use-draft.js';
import { InlineAnswer } from './inline-answer.js';
import { getEntryTitle, groupEntries, labelAction, listBulkActions, needsReason } from './queue.js';
import { sendLater } from './send-action.js';

/** The entries selected for a bulk action. */
const selectedIds = signal<ReadonlySet<string>>(new Set());

/** The queue: a search field, bulk actions, and the entries under their headings. */
export function Queue({
  entries,
  all,
  chosen,
  isNamed,
}: {
  /** The entries matching the search. */
  readonly entries: readonly WaitingEntry[];
  readonly all: Waiting;
  readonly chosen: string | null;
  /** Whether the user has selected it; on a narrow screen it is then shown instead of the list. */
  readonly isNamed: boolean;
}) {
  const rows = useRef<HTMLDivElement>(null);
  useRowKeys(rows);
  useSelectKey();
  const pendingIds = new Set(
    delayedActions.value.flatMap(({ entryIds, state }) => (state === 'failed' ? [] : entryIds)),
  );
  const open = entries.filter(({ id }) => !pendingIds.has(id));
  const selected = open.filter(({ id }) => selectedIds.value.has(id));
  return (
    <div class="inbox-list" ref={rows}>
      <form class="queue-search" role="search" onSubmit={(event) => event.preventDefault()}>
        <FilterText name="search" label="Search the inbox" type="search" placeholder="Issue, question, reason, code" />
      </form>
      <BulkBar open={open} selected={selected} />
      {entries.length === 0 ? <EmptyQueue isFiltered={all.entries.length > 0} /> : null}
      {groupEntries(entries).map(({ title, entries: inGroup }) => (
        <section key={title} aria-label={title}>
          <h2 class="queue-title">
            {title} <span class="dim">{inGroup.length}</span>
          </h2>
          <ul class="inbox-rows">
            {inGroup.map((entry) => (
              <Row
                key={entry.id}
                entry={entry}
                isChosen={entry.id === chosen}
                isInDetail={entry.id === chosen && isNamed}
                isPending={pendingIds.has(entry.id)}
              />
            ))}
          </ul>
        </section>
      ))}
      {all.complete ? null : <p class="dim">Not all items are listed. More appear as these are settled.</p>}
    </div>
  );
}

function EmptyQueue({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) return <p class="dim">No items match the search.</p>;
  return (
    <div class="card empty">
      <strong>Nothing is waiting for you</strong>
      <p>
        Questions and permission requests from agents appear here, as well as results that cannot be accepted
        automatically, with their evidence.
      </p>
    </div>
  );
}

const KINDS: Readonly<Record<WaitingEntry['kind'], { readonly label: string; readonly tone: Tone }>> = {
  question: { label: 'Question', tone: 'warn' },
  permission: { label: 'Permission', tone: 'warn' },
  sink: { label: 'Sink', tone: 'bad' },
  result: { label: 'Result', tone: 'plain' },
};

function Row({
  entry,
  isChosen,
  isInDetail,
  isPending,
}: {
  readonly entry: WaitingEntry;
  readonly isChosen: boolean;
  readonly isInDetail: boolean;
  readonly isPending: boolean;
}) {
  const { id, kind, at, text } = entry;
  const { label, tone } = KINDS[kind];
  const title = getEntryTitle(entry);
  const isSelected = selectedIds.value.has(id);
  return (
    <li class={`entry ${kind}${isChosen ? ' chosen' : ''}${isPending ? ' leaving' : ''}`} data-entry={id}>
      {kind === 'question' ? (
        <span class="entry-mark" />
      ) : (
        <input
          class="entry-mark"
          type="checkbox"
          checked={isSelected}
          disabled={isPending}
          aria-label={`Select ${title}`}
          onChange={() => toggleSelected(id)}
        />
      )}
      <a {...ROW} class="entry-link" href={getEntryPath(entry)} aria-current={isChosen ? 'true' : undefined}>
        <span class="row">
          <strong class="one-line">
            <SafeText text={title.slice(0, 120)} />
          </strong>
          {kind === 'result' ? null : <Badge tone={tone}>{label}</Badge>}
          <span class="dim end">{isPending ? 'Sending …' : formatWait(Date.now() - Date.parse(at))}</span>
        </span>
        <span class="clip entry-text">
          <SafeText text={text.slice(0, 300)} />
        </span>
        <EntryNote entry={entry} />
      </a>
      {isPending || (entry.kind !== 'question' && entry.kind !== 'permission') || !hasScope('run') ? null : (
        <InlineAnswer entry={entry} isInDetail={isInDetail || isChosen} />
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

function toggleSelected(id: string): void {
  const next = new Set(selectedIds.peek());
  if (!next.delete(id)) next.add(id);
  selectedIds.value = next;
}

/** Selects the row that has the focus when `x` is pressed. */
function useSelectKey(): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.key !== 'x' || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const row = event.target instanceof HTMLElement && event.target.matches('[data-row]') ? event.target : null;
      const box = row?.closest('.entry')?.querySelector<HTMLInputElement>('input.entry-mark:enabled');
      const id = row?.closest<HTMLElement>('.entry')?.dataset['entry'];
      if (box === undefined || box === null || id === undefined) return;
      event.preventDefault();
      toggleSelected(id);
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
}

/** The actions on the selected entries. They are always shown, so the list does not move when an entry is selected. */
function BulkBar({
  open,
  selected,
}: {
  readonly open: readonly WaitingEntry[];
  readonly selected: readonly WaitingEntry[];
}) {
  const why = useSignal('');
  const wasSubmitted = useSignal(false);
  const name = useDraft('who', { who: '' });
  const isLocal = session.value.state === 'signed-in' && session.value.name === 'local';
  const actions = listBulkActions(selected).filter((action) =>
    hasScope(action === 'allow' || action === 'deny' ? 'run' : 'decide'),
  );
  const showsReason = actions.some(needsReason);
  const selectable = open.filter(({ kind }) => kind !== 'question');
  const isMissing = wasSubmitted.value && why.value.trim() === '';
  const clear = (): void => {
    selectedIds.value = new Set();
    why.value = '';
    wasSubmitted.value = false;
  };
  return (
    <div class="bulk-bar" role="group" aria-label="Bulk actions">
      <label class="row">
        <input
          type="checkbox"
          disabled={selectable.length === 0}
          checked={selectable.length > 0 && selected.length === selectable.length}
          onChange={({ currentTarget }) =>
            currentTarget.checked ? (selectedIds.value = new Set(selectable.map(({ id }) => id))) : clear()
          }
        />
        {selected.length === 0 ? 'Select all' : `${selected.length} selected`}
      </label>
      <span class="row end">
        {selected.length > 0 && actions.length === 0 ? <span class="dim">Select items of the same kind.</span> : null}
        {actions.map((action) => (
          <button
            key={action}
            type="button"
            onClick={() => {
              wasSubmitted.value = true;
              if (needsReason(action) && why.value.trim() === '') return;
              sendLater(action, selected, { why: why.value.trim(), who: isLocal ? name.fields.who.trim() : '' });
              clear();
            }}
          >
            {labelAction(action)}
          </button>
        ))}
      </span>
      {showsReason ? (
        <input
          class="bulk-why"
          type="text"
          aria-label="Reason for all selected items"
          placeholder={isMissing ? 'Enter a reason: it is quoted in each comment' : 'Reason (quoted in each comment)'}
          aria-invalid={isMissing}
          maxLength={5000}
          value={why.value}
          onInput={({ currentTarget }) => (why.value = currentTarget.value)}
        />
      ) : null}
    </div>
  );
}
