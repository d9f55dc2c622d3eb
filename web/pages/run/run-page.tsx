import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { query, route, setQuery } from '../../app/router.js';
import { FailureNotice, Loading, Notice } from '../../ui/notice.js';
import { client } from '../../data/client.js';
import { useResource } from '../../data/resource.js';
import { FailureCard, useLastStderr } from './failure-card.js';
import { PaneSwitch, Panes } from './panes.js';
import { openRun } from './open-run.js';
import type { OpenRun } from './open-run.js';
import { parseSelection, formatSelection } from './highlight.js';
import { ReplayBar } from './replay-bar.js';
import { ReplyBox } from './reply-box.js';
import { RunDetails } from './run-details.js';
import { RunHead } from './run-head.js';
import { formatCount } from '../../ui/format.js';
import { Badge, capitalize } from '../../ui/badge.js';
import { findNextError, ITEM_KINDS } from './item-filter.js';
import { Button } from '../../ui/button.js';
import type { ItemKind } from './item-filter.js';
import './run.css';

/** The delay before the address is updated: browsers reject hundreds of changes within seconds. */
const ADDRESS_DELAY_MS = 250;

/** The run page: task, result and panes, live or replayed. */
export function RunPage() {
  const id = route.value.page === 'run' ? route.value.id : '';
  return <LoadedRun key={id} id={id} />;
}

function LoadedRun({ id }: Readonly<{ id: string }>) {
  const run = useMemo(() => openRun(id, parseSelection(query.peek().get('at'))), [id]);
  const isOver = useSignal(false);
  const hasTools = useSignal(false);
  const record = useResource(`run ${id}`, async (signal) => client.getRun({ id, signal }), { live: !isOver.value });
  const isEnded = record.value?.state === 'ended';
  useEffect(() => {
    isOver.value = isEnded;
  }, [isEnded]);
  const isKnown = record.value !== null;
  // A run opened while active stays in live mode after it has ended.
  const wasLive = useRef<boolean | null>(null);
  if (isKnown) wasLive.current ??= !isEnded;
  useEffect(() => {
    if (!isKnown) return;
    run.follow();
    return run.close;
  }, [run, isKnown]);
  // The result is refetched after the last event has arrived.
  const connection = run.connection.value.state;
  useEffect(() => {
    if (connection !== 'opening') record.reload();
  }, [connection]);
  const { started_at = null, ended_at = null } = record.value ?? {};
  useEffect(() => {
    const read = (at: string | null): number | null => (at === null ? null : Date.parse(at));
    run.span.value = { start: read(started_at), end: read(ended_at) };
  }, [run, started_at, ended_at]);
  useAddress(run);
  const isFailed = record.value?.result?.status === 'failed';
  const stderr = useLastStderr(isFailed ? id : null);

  // The end of stderr is shown above the panes, which must not move when it arrives.
  const isStderrLoading = isFailed && !wasLive.current && stderr.value === null && stderr.failure === null;
  if (record.value !== null && isStderrLoading) return <Loading />;
  if (record.value === null) {
    return record.failure === null ? (
      <Loading />
    ) : (
      <div class="stack">
        <h1>Run</h1>
        <FailureNotice title="Cannot load the run" failure={record.failure} reload={record.reload}>
          <a href="/runs">All runs</a>
        </FailureNotice>
      </div>
    );
  }
  return (
    <div class="run-page">
      <RunHead run={record.value} onChange={record.reload} />
      <FailureCard run={run} view={record.value} stderr={stderr} />
      <RunDetails run={run} view={record.value} />
      <ConnectionNotices run={run} />
      <div class={hasTools.value ? 'run-pane-bar has-tools' : 'run-pane-bar'}>
        <PaneSwitch run={run} />
        <ConnectionBadge run={run} isLive={wasLive.current ?? false} />
        <Button
          label="Find and replay"
          class="tools-toggle"
          aria-expanded={hasTools.value}
          onClick={() => (hasTools.value = !hasTools.value)}
        />
        <ReplayBar run={run} />
        <FindBar run={run} />
      </div>
      <Panes run={run} isLive={wasLive.current ?? false} />
      <ReplyBox run={run} isEnded={isEnded} isWaiting={record.value.state === 'waiting'} />
    </div>
  );
}

function useAddress(run: OpenRun): void {
  const selection = run.selection.value;
  useEffect(() => {
    const at = selection === null ? null : formatSelection(selection);
    if (query.peek().get('at') === at) return;
    const timer = setTimeout(() => setQuery({ at }), ADDRESS_DELAY_MS);
    return () => clearTimeout(timer);
  }, [selection]);
}

/** Shows whether the events are complete and live or, if not, how far behind they are. */
function ConnectionBadge({ run, isLive }: Readonly<{ run: OpenRun; isLive: boolean }>) {
  const { state } = run.connection.value;
  const behind = isLive && state === 'live' ? run.behind.value : null;
  return (
    <span role="status" aria-label="Connection">
      {behind === null ? renderBadge(state, isLive) : <Badge>{formatCount(behind)} behind, catching up</Badge>}
    </span>
  );
}

function renderBadge(state: OpenRun['connection']['value']['state'], isLive: boolean) {
  switch (state) {
    case 'opening':
      return <Badge>Loading …</Badge>;
    case 'live':
      // The events of an ended run are read from the same stream.
      return isLive ? <Badge isLive>Live</Badge> : <Badge>Loading …</Badge>;
    case 'reconnecting':
      return <Badge tone="warn">Reconnecting …</Badge>;
    case 'paused':
      return <Badge>Paused</Badge>;
    case 'full':
      return <Badge tone="warn">Truncated</Badge>;
    case 'ended':
      return <Badge>Complete</Badge>;
    case 'lost':
      return <Badge tone="bad">Connection lost</Badge>;
  }
}

/** Shows why events are missing and what to do about it. */
export function ConnectionNotices({ run }: Readonly<{ run: OpenRun }>) {
  const connection = run.connection.value;
  const gaps = run.gaps.value;
  return (
    <>
      {connection.state === 'lost' ? (
        <Notice tone="bad" title="Connection lost" action={{ label: 'Reconnect', run: run.follow }}>
          {connection.failure.message} <code>{connection.failure.code}</code>
        </Notice>
      ) : null}
      {connection.state === 'full' ? (
        <Notice tone="warn" title="Too many events for this page">
          Showing the first {formatCount(run.data.list.events.length)} events. The export contains all of them.
        </Notice>
      ) : null}
      {gaps.length > 0 ? (
        <Notice tone="warn" title="Some events are missing">
          Missing event numbers:{' '}
          {gaps.map(({ from, to }) => (to === null ? `from ${from} onward` : `${from} to ${to}`)).join(', ')}
        </Notice>
      ) : null}
    </>
  );
}

/** How long after the last key press a search starts. */
const DEBOUNCE_MS = 200;

/** Filters a run by kind, errors and text, and moves from error to error. */
export function FindBar({ run }: Readonly<{ run: OpenRun }>) {
  void run.redraws.page.value;
  const { filter } = run;
  const { kind, errorsOnly } = filter.query.value;
  const { conversation } = run.data;
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const goToError = (step: 1 | -1): void => {
    const errorItem = findNextError(conversation, run.highlight.peek()?.item ?? null, step);
    const event = conversation.events[conversation.items[errorItem ?? -1]?.events[0] ?? -1];
    if (event !== undefined) run.selection.value = { pane: 'conversation', seq: event.seq };
  };
  useErrorKeys(goToError);
  const count = filter.shown(conversation.items.length).count;
  return (
    <form class="find-bar" role="search" aria-label="Find in run" onSubmit={(event) => event.preventDefault()}>
      <input
        type="search"
        aria-label="Find in run"
        placeholder="Find in run"
        maxLength={200}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => {
          clearTimeout(timer.current);
          timer.current = setTimeout(() => filter.set({ text: currentTarget.value.trim() }), DEBOUNCE_MS);
        }}
      />
      <label>
        <span class="visually-hidden">Kind</span>
        <select
          value={kind ?? ''}
          onChange={({ currentTarget }) =>
            filter.set({ kind: ITEM_KINDS.find((name): name is ItemKind => name === currentTarget.value) ?? null })
          }
        >
          <option value="">All kinds</option>
          {ITEM_KINDS.map((name) => (
            <option key={name} value={name}>
              {capitalize(name)}
            </option>
          ))}
        </select>
      </label>
      <Button label="Errors only" aria-pressed={errorsOnly} onClick={() => filter.set({ errorsOnly: !errorsOnly })} />
      <Button label="Next error" aria-keyshortcuts="n" onClick={() => goToError(1)} />
      <output class="dim find-count">
        {filter.isOn.value ? `${formatCount(count)} found${filter.isDone.value ? '' : ' …'}` : ''}
      </output>
    </form>
  );
}

/** Goes to the next error when `n` is pressed, and to the previous one for `N`. */
function useErrorKeys(go: (step: 1 | -1) => void): void {
  const current = useRef(go);
  current.current = go;
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.key.toLowerCase() !== 'n') return;
      if (event.target instanceof Element && event.target.closest('input, textarea, select, dialog') !== null) return;
      event.preventDefault();
      current.current(event.key === 'n' ? 1 : -1);
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, []);
}
