import { signal, useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { WaitingEntry } from '../../../src/server/api/index.js';
import { hasScope, isLocal } from '../../app/session.js';
import {
  delayedActions,
  delayAction,
  dropAction,
  findAnswerObstacle,
  findDecisionObstacle,
  findDelayed,
} from '../../data/delayed-actions.js';
import { getEntryPath, getEntryText, getEntryTitle, loadWaiting, type Waiting } from '../../data/waiting.js';
import { Badge, Refused, type Tone, Button } from '../../ui/parts.js';
import { FilterField } from '../../ui/list-page.js';
import { SafeText, formatWait } from '../../ui/text.js';
import { useKeys, useRowKeys, ROW } from '../../ui/row-table.js';
import { useDraft } from '../../ui/use-draft.js';
import { groupEntries, listBulkActions, needsReason, describeAction, findDenial } from './queue.js';
import { client } from '../../data/client.js';
import type { BulkAction } from './queue.js';
import { useReply } from '../run/reply-box.js';
import { redeliver } from '../../ui/redelivery.js';
import { t } from './texts.js';

const selectedIds = signal<ReadonlySet<string>>(new Set());

const SEARCH = {
  name: 'search',
  label: t.searchTheInbox,
  kind: 'search',
  placeholder: t.issueQuestionReasonCode,
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
  useKeys(({ key, target }) => {
    const row = target instanceof HTMLElement && target.matches('[data-row]') ? target : null;
    const entry = row?.closest<HTMLElement>('.entry:has(input.entry-mark:enabled)');
    const id = entry?.dataset['entry'];
    if (key !== 'x' || id === undefined) return false;
    toggleSelected(id);
    return true;
  });
  const open = entries.filter(({ id }) => !findDelayed(id).isPending);
  const selected = open.filter(({ id }) => selectedIds.value.has(id));
  return (
    <div class="inbox-list" ref={rows}>
      <form class="queue-search" role="search" onSubmit={(event) => event.preventDefault()}>
        <FilterField filter={SEARCH} />
      </form>
      <BulkBar open={open} selected={selected} />
      {entries.length === 0 && all.entries.length > 0 ? <p class="dim">{t.noItemsMatchTheSearch}</p> : null}
      {all.entries.length === 0 ? (
        <div class="card empty">
          <strong>{t.nothingIsWaitingForYou}</strong>
          <p>{t.questionsAndPermissionRequestsFrom}</p>
        </div>
      ) : null}
      {groupEntries([...entries, ...listLost(all.entries)]).map(({ title, entries: inGroup }) => (
        <section key={title} aria-label={title}>
          <h2 class="queue-title">
            {title} <span class="dim">{inGroup.length}</span>
          </h2>
          <ul class="list inbox-rows">
            {inGroup.map((entry) => (
              <Row
                key={entry.id}
                entry={entry}
                isChosen={entry.id === chosen}
                isInDetail={entry.id === chosen && isNamed}
              />
            ))}
          </ul>
        </section>
      ))}
      {all.complete ? null : <p class="dim">{t.notAllItemsAreListed}</p>}
    </div>
  );
}

/** Lists the entries that left the list before their answer was sent: their rows say why it was not. */
function listLost(listed: readonly WaitingEntry[]): readonly WaitingEntry[] {
  const known = new Set(listed.map(({ id }) => id));
  return delayedActions.value
    .filter(({ state }) => state === 'failed')
    .flatMap(({ parts, failures }) => parts.filter(({ id }) => failures.some((failure) => failure.id === id)))
    .flatMap(({ id, entry }) => (entry === undefined || known.has(id) ? [] : [entry]));
}

const KINDS: Readonly<Record<WaitingEntry['kind'], Readonly<{ label: string; tone: Tone }>>> = {
  question: { label: t.states.question, tone: 'warn' },
  permission: { label: t.states.permission, tone: 'warn' },
  sink: { label: t.sink, tone: 'bad' },
  result: { label: t.states.result, tone: 'plain' },
};

function Row(props: Readonly<{ entry: WaitingEntry; isChosen: boolean; isInDetail: boolean }>) {
  const { entry, isChosen, isInDetail } = props;
  const { id, kind, at } = entry;
  const { action, isPending: isLeaving } = findDelayed(id);
  const failure = action?.failures.find((failed) => failed.id === id);
  const { label, tone } = KINDS[kind];
  const title = getEntryTitle(entry);
  const isSelected = selectedIds.value.has(id);
  return (
    <li class={`entry ${kind}${isChosen ? ' chosen' : ''}${isLeaving ? ' leaving' : ''}`} data-entry={id}>
      {kind === 'question' ? (
        <span class="entry-mark" />
      ) : (
        <input
          class="entry-mark"
          type="checkbox"
          checked={isSelected}
          disabled={isLeaving}
          aria-label={t.select(title)}
          onChange={() => toggleSelected(id)}
        />
      )}
      <a {...ROW} class="entry-link" href={getEntryPath(entry)} aria-current={isChosen ? 'true' : undefined}>
        <span class="row">
          <SafeText as="strong" class="one-line" text={title.slice(0, 120)} />
          {kind === 'result' ? null : <Badge tone={tone}>{label}</Badge>}
          <span class="dim end">{isLeaving ? t.notSentYet : formatWait(Date.now() - Date.parse(at))}</span>
        </span>
        <SafeText as="span" class="clip entry-text" text={getEntryText(entry).slice(0, 300)} />
        <EntryNote entry={entry} />
      </a>
      {entry.kind !== 'question' || !hasScope('run') ? null : (
        <InlineAnswer entry={entry} isInDetail={isInDetail || isChosen} />
      )}
      {failure === undefined || action === undefined ? null : (
        <p class="entry-failure wrong" role="alert">
          <SafeText text={failure.message} limit={300} />{' '}
          <Button label={t.dismiss} class="link" onClick={() => dropAction(action.id)} />
        </p>
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
  return <span class="dim small">{t.notDelivered(count)}</span>;
}

function toggleSelected(id: string): void {
  const next = new Set(selectedIds.peek());
  if (!next.delete(id)) next.add(id);
  selectedIds.value = next;
}

/** The actions on the selected entries. They are always shown, so the list does not move when an entry is selected. */
function BulkBar({ open, selected }: Readonly<{ open: readonly WaitingEntry[]; selected: readonly WaitingEntry[] }>) {
  const why = useSignal('');
  const wasSubmitted = useSignal(false);
  const name = useDraft('who', { who: '' });
  const actions = hasScope('decide') ? listBulkActions(selected) : [];
  const showsReason = actions.some(needsReason);
  const selectable = open.filter(({ kind }) => kind !== 'question');
  const isMissing = wasSubmitted.value && why.value.trim() === '';
  const clear = (): void => {
    selectedIds.value = new Set();
    why.value = '';
    wasSubmitted.value = false;
  };
  return (
    <div class="bulk-bar" role="group" aria-label={t.bulkActions}>
      <label class="row">
        <input
          type="checkbox"
          disabled={selectable.length === 0}
          checked={selectable.length > 0 && selected.length === selectable.length}
          onChange={({ currentTarget }) =>
            currentTarget.checked ? (selectedIds.value = new Set(selectable.map(({ id }) => id))) : clear()
          }
        />
        {selected.length === 0 ? t.selectAll : t.selected(selected.length)}
      </label>
      <span class="row end">
        {selected.length > 0 && actions.length === 0 ? <span class="dim">{t.selectItemsOfTheSame}</span> : null}
        {actions.map((action) => (
          <Button
            label={t.bulk[action][0]}
            key={action}
            onClick={() => {
              wasSubmitted.value = true;
              if (needsReason(action) && why.value.trim() === '') return;
              sendLater(action, selected, { why: why.value.trim(), who: isLocal() ? name.fields.who.trim() : '' });
              clear();
            }}
          />
        ))}
      </span>
      {showsReason ? (
        <input
          class="bulk-why"
          type="text"
          aria-label={t.reasonForAllSelectedItems}
          placeholder={isMissing ? t.enterAReasonForEach : t.reasonQuotedInEachComment}
          aria-invalid={isMissing}
          maxLength={5000}
          value={why.value}
          onInput={({ currentTarget }) => (why.value = currentTarget.value)}
        />
      ) : null}
    </div>
  );
}

/** Sends decisions after a delay; what stops or repeats something, at once. */
function sendLater(
  action: BulkAction,
  entries: readonly WaitingEntry[],
  reason: Readonly<{ why: string; who: string }>,
): void {
  delayAction({
    title: describeAction(action, entries),
    parts: entries.map((entry) => ({
      id: entry.id,
      entry,
      send: async () => sendAction(action, entry, reason),
      findObstacle: async () => findObstacle(entry),
    })),
    isImmediate: action === 'deny' || action === 'redeliver',
    onDone: () => void loadWaiting(),
  });
}

async function findObstacle(entry: WaitingEntry): Promise<string | null> {
  if (entry.kind === 'result') return findDecisionObstacle(client, entry.id);
  if (entry.kind !== 'permission') return null;
  const { run, interaction_id: interactionId, seq } = entry;
  return findAnswerObstacle(client, { run, interactionId, seq });
}

async function sendAction(
  action: BulkAction,
  entry: WaitingEntry,
  { why, who }: Parameters<typeof sendLater>[2],
): Promise<void> {
  if (entry.kind === 'result' && (action === 'accept' || action === 'retry' || action === 'reject')) {
    await client.resolveItem({ id: entry.id, body: { action, why, ...(who === '' ? {} : { who }) } });
  }
  if (entry.kind === 'sink' && action === 'redeliver') await redeliver(entry.sink);
  if (entry.kind === 'permission' && action === 'deny') {
    const option = findDenial(entry);
    if (option === undefined) return;
    await client.replyToRun({ id: entry.run, body: { interaction_id: entry.interaction_id, option_id: option.id } });
  }
}

/** An inline form for answering with one line of text. The detail view has room for more. */
function InlineAnswer(props: {
  readonly entry: Extract<WaitingEntry, { kind: 'question' }>;
  /** Whether the full form is shown next to the list, if space permits. */
  readonly isInDetail: boolean;
}) {
  const { entry, isInDetail } = props;
  const reply = useReply(entry.run, entry.interaction_id, () => void loadWaiting());
  const classes = `inline-answer${isInDetail ? ' in-detail' : ''}`;
  if (reply.isDone) return <p class={`${classes} dim`}>{t.answerSentTheRunContinues}</p>;
  return (
    <form
      class={classes}
      onSubmit={(event) => {
        event.preventDefault();
        reply.send();
      }}
    >
      <input
        type="text"
        aria-label={t.answerInOneLine}
        placeholder={entry.options.slice(0, 3).join(' · ').slice(0, 60) || t.yourAnswer}
        value={reply.text}
        maxLength={20_000}
        onInput={({ currentTarget }) => reply.write(currentTarget.value)}
      />
      <button type="submit" disabled={reply.isBusy || reply.isEmpty}>
        {t.sendAnswer}
      </button>
      <Refused why={reply.failure} />
    </form>
  );
}
