import { signal, useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { WaitingEntry } from '../../../src/server/api/index.js';
import { hasScope, session } from '../../app/session.js';
import { delayedActions, delayAction } from '../../data/delayed-actions.js';
import { getEntryPath, loadWaiting, type Waiting } from '../../data/waiting.js';
import { Badge } from '../../ui/badge.js';
import { FilterField } from '../../ui/list-page.js';
import { SafeText } from '../../ui/safe-text.js';
import { formatWait } from '../../ui/format.js';
import { useKeys, useRowKeys, ROW } from '../../ui/row-table.js';
import { useDraft } from '../../ui/use-draft.js';
import {
  getEntryTitle,
  groupEntries,
  labelAction,
  listBulkActions,
  needsReason,
  describeAction,
  findOption,
} from './queue.js';
import { client } from '../../data/client.js';
import type { BulkAction } from './queue.js';
import { useReply } from '../run/reply-box.js';
import { Refused, type Tone } from '../../ui/notice.js';
import { Button } from '../../ui/button.js';

const selectedIds = signal<ReadonlySet<string>>(new Set());

const SEARCH = {
  name: 'search',
  label: 'Search the inbox',
  kind: 'search',
  placeholder: 'Issue, question, reason, code',
} as const;

/** The queue: a search field, bulk actions, and the entries under their headings. */
export function Queue(props: {
  readonly entries: readonly WaitingEntry[];
  readonly all: Waiting;
  readonly chosen: string | null;
  /** Whether the user has selected it; on a narrow screen it is then shown instead of the list. */
  readonly isNamed: boolean;
}) {
  const { entries, all, chosen, isNamed } = props;
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
        <FilterField filter={SEARCH} />
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

function EmptyQueue({ isFiltered }: Readonly<{ isFiltered: boolean }>) {
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

const KINDS: Readonly<Record<WaitingEntry['kind'], Readonly<{ label: string; tone: Tone }>>> = {
  question: { label: 'Question', tone: 'warn' },
  permission: { label: 'Permission', tone: 'warn' },
  sink: { label: 'Sink', tone: 'bad' },
  result: { label: 'Result', tone: 'plain' },
};

function Row(props: Readonly<{ entry: WaitingEntry; isChosen: boolean; isInDetail: boolean; isPending: boolean }>) {
  const { entry, isChosen, isInDetail, isPending } = props;
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
          <SafeText as="strong" class="one-line" text={title.slice(0, 120)} />
          {kind === 'result' ? null : <Badge tone={tone}>{label}</Badge>}
          <span class="dim end">{isPending ? 'Sending …' : formatWait(Date.now() - Date.parse(at))}</span>
        </span>
        <SafeText as="span" class="clip entry-text" text={text.slice(0, 300)} />
        <EntryNote entry={entry} />
      </a>
      {isPending || (entry.kind !== 'question' && entry.kind !== 'permission') || !hasScope('run') ? null : (
        <InlineAnswer entry={entry} isInDetail={isInDetail || isChosen} />
      )}
    </li>
  );
}

function EntryNote({ entry }: Readonly<{ entry: WaitingEntry }>) {
  if (entry.kind === 'result') return <SafeText as="code" class="dim small" text={entry.code} />;
  if (entry.kind !== 'sink') {
    const issue = entry.issue_ref === null ? '' : `, ${entry.issue_ref}`;
    return <span class="dim one-line small">{entry.engine + issue}</span>;
  }
  const count = entry.open + entry.dead;
  return <span class="dim small">{`${count} ${count === 1 ? 'comment' : 'comments'} not delivered`}</span>;
}

function toggleSelected(id: string): void {
  const next = new Set(selectedIds.peek());
  if (!next.delete(id)) next.add(id);
  selectedIds.value = next;
}

function useSelectKey(): void {
  useKeys(({ key, target }) => {
    const row = target instanceof HTMLElement && target.matches('[data-row]') ? target : null;
    const entry = row?.closest<HTMLElement>('.entry:has(input.entry-mark:enabled)');
    const id = entry?.dataset['entry'];
    if (key !== 'x' || id === undefined) return false;
    toggleSelected(id);
    return true;
  });
}

/** The actions on the selected entries. They are always shown, so the list does not move when an entry is selected. */
function BulkBar({ open, selected }: Readonly<{ open: readonly WaitingEntry[]; selected: readonly WaitingEntry[] }>) {
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
          <Button
            label={labelAction(action)}
            key={action}
            onClick={() => {
              wasSubmitted.value = true;
              if (needsReason(action) && why.value.trim() === '') return;
              sendLater(action, selected, { why: why.value.trim(), who: isLocal ? name.fields.who.trim() : '' });
              clear();
            }}
          />
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

function sendLater(action: BulkAction, entries: readonly WaitingEntry[], reason: Reason): void {
  const parts = entries.map((entry) => ({ id: entry.id, send: async () => sendAction(action, entry, reason) }));
  delayAction({ title: describeAction(action, entries), parts, onDone: () => void loadWaiting() });
}

type Reason = Readonly<{ why: string; who: string }>;

async function sendAction(action: BulkAction, entry: WaitingEntry, { why, who }: Reason): Promise<void> {
  if (entry.kind === 'result' && (action === 'accept' || action === 'retry' || action === 'reject')) {
    await client.resolveItem({ id: entry.id, body: { action, why, ...(who === '' ? {} : { who }) } });
  }
  if (entry.kind === 'sink' && action === 'redeliver') await client.redeliverSink({ body: { sink: entry.sink } });
  if (entry.kind === 'permission' && (action === 'allow' || action === 'deny')) {
    const option = findOption(entry, action);
    if (option === undefined) return;
    await client.replyToRun({ id: entry.run, body: { interaction_id: entry.interaction_id, option_id: option.id } });
  }
}

/** An inline form for answering with one line of text or one of the options. The detail view has room for more. */
function InlineAnswer(props: {
  readonly entry: Extract<WaitingEntry, { kind: 'question' | 'permission' }>;
  /** Whether the full form is shown next to the list, if space permits. */
  readonly isInDetail: boolean;
}) {
  const { entry, isInDetail } = props;
  const reply = useReply(entry.run, entry.interaction_id, () => void loadWaiting());
  const classes = isInDetail ? 'inline-answer in-detail' : 'inline-answer';
  if (reply.isDone) return <p class={`${classes} dim`}>Answer sent. The run continues.</p>;
  return (
    <form
      class={classes}
      onSubmit={(event) => {
        event.preventDefault();
        if (entry.kind === 'question') reply.send(null);
      }}
    >
      {entry.kind === 'permission' ? (
        entry.options.slice(0, 6).map(({ id, label }) => (
          <button key={id} type="button" disabled={reply.isBusy} onClick={() => reply.send(id)}>
            <SafeText text={label.slice(0, 60)} />
          </button>
        ))
      ) : (
        <>
          <input
            type="text"
            aria-label="Answer in one line"
            placeholder={entry.options.slice(0, 3).join(' · ').slice(0, 60) || 'Your answer'}
            value={reply.text}
            maxLength={20_000}
            onInput={({ currentTarget }) => reply.write(currentTarget.value)}
          />
          <button type="submit" disabled={reply.isBusy || reply.isEmpty}>
            Send answer
          </button>
        </>
      )}
      <Refused why={reply.failure} />
    </form>
  );
}
