import { signal, useSignal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import { query, route, setQuery } from '../../app/router.js';
import { Loaded, Loading, Notice, Badge, listStateOptions, Button } from '../../ui/parts.js';
import { client } from '../../data/client.js';
import { useResource } from '../../data/resource.js';
import { FailureCard, useLastStderr, RunHead } from './run-head.js';
import { Panes } from './panes.js';
import { openRun, reopenRun, type OpenRun } from './open-run.js';
import { parseSelection, formatSelection } from './highlight.js';
import { formatCount } from '../../ui/text.js';
import { findNextError, ITEM_KINDS } from './item-filter.js';
import { useKeys } from '../../ui/row-table.js';
import { Select } from '../../ui/form.js';
import { formatOffset, findEnd, findStart } from './pane-list.js';
import { findFirstAbove } from './byte-ranges.js';
import './run.css';
import { t } from './texts.js';

/** The delay before the address is updated: browsers reject hundreds of changes within seconds. */
const ADDRESS_DELAY_MS = 250;

/** The fraction of the events that a page which has reached its limit keeps while it continues to follow a run. */
const KEPT_AT_LIMIT = 0.1;

export function RunPage() {
  const id = route.value.page === 'run' ? route.value.id : '';
  return <LoadedRun key={id} id={id} />;
}

function LoadedRun({ id }: Readonly<{ id: string }>) {
  // Closures of this component only refer to the signal: an effect whose inputs stay keeps its first closure, and with it
  // all events of a run that has been reopened since.
  const [opened] = useState(() => signal(openRun(id, parseSelection(query.peek().get('at')))));
  const run = opened.value;
  const isOver = useSignal(false);
  const hasTools = useSignal(false);
  const record = useResource(`run ${id}`, async (stop) => client.getRun({ id, signal: stop }), { live: !isOver.value });
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
    const { follow, close } = opened.peek();
    follow();
    return close;
  }, [run, isKnown]);
  // The result is refetched after the last event has arrived.
  const connection = run.connection.value.state;
  useEffect(() => {
    if (connection !== 'opening') record.reload();
    if (connection === 'full' && wasLive.current === true) opened.value = reopenRun(opened.peek(), KEPT_AT_LIMIT);
  }, [run, connection]);
  // Replay and panes keep positions in the events, which start over.
  const key = `${run.skipped.value.at(-1)?.to}`;
  const { started_at = null, ended_at = null } = record.value ?? {};
  useEffect(() => {
    const read = (at: string | null): number | null => (at === null ? null : Date.parse(at));
    opened.peek().span.value = { start: read(started_at), end: read(ended_at) };
  }, [run, started_at, ended_at]);
  useAddress(run);
  const isFailed = record.value?.result?.status === 'failed';
  const stderr = useLastStderr(isFailed ? id : null);

  // The end of stderr is shown above the panes, which must not move when it arrives.
  const isStderrLoading = isFailed && !wasLive.current && stderr.value === null && stderr.failure === null;
  if (record.value !== null && isStderrLoading) return <Loading />;
  if (record.value === null) {
    return (
      <div class="stack">
        {record.failure === null ? null : <h1>{t.run}</h1>}
        <Loaded resource={record} title={t.cannotLoadTheRun} hint={<a href="/runs">{t.allRuns}</a>} />
      </div>
    );
  }
  return (
    <div class="run-page">
      <RunHead
        run={record.value}
        onChange={record.reload}
        connection={<ConnectionBadge run={run} isLive={wasLive.current ?? false} />}
      />
      <FailureCard run={run} view={record.value} stderr={stderr} />
      <ConnectionNotices run={run} onContinue={() => (opened.value = reopenRun(opened.peek(), 0))} />
      <div class={hasTools.value ? 'run-bar has-tools' : 'run-bar'}>
        <Button
          label={t.findAndReplay}
          class="narrow-only end"
          aria-expanded={hasTools.value}
          onClick={() => (hasTools.value = !hasTools.value)}
        />
        <FindBar run={run} />
        <ReplayBar key={key} run={run} />
      </div>
      <Panes key={key} run={run} view={record.value} isLive={wasLive.current ?? false} />
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

function ConnectionBadge({ run, isLive }: Readonly<{ run: OpenRun; isLive: boolean }>) {
  const { state } = run.connection.value;
  const behind = isLive && state === 'live' ? run.behind.value : null;
  // The events of an ended run are read from the same stream.
  const label = state !== 'live' ? CONNECTION_LABELS[state] : isLive ? t.live : t.loading;
  return (
    <>
      <span role="status" aria-label={t.connection}>
        <Badge tone={state === 'lost' ? 'bad' : 'plain'} isLive={isLive && state === 'live' && behind === null}>
          {behind === null ? label : t.behind(formatCount(behind))}
        </Badge>
      </span>
      {behind === null ? null : <Button label={t.jumpToTheEnd} class="link" onClick={run.jumpToEnd} />}
    </>
  );
}

const CONNECTION_LABELS = {
  opening: t.loading,
  reconnecting: t.reconnecting,
  paused: t.paused,
  full: t.truncated,
  ended: t.complete,
  lost: t.connectionLost,
};

export function ConnectionNotices({ run, onContinue }: Readonly<{ run: OpenRun; onContinue: () => void }>) {
  const connection = run.connection.value;
  const gaps = run.gaps.value;
  const skipped = run.skipped.value;
  return (
    <>
      {skipped.length === 0 ? null : (
        <Notice
          tone="plain"
          title={t.someEventsAreNotShown}
          action={{ label: t.startAgain, run: () => location.reload() }}
        >
          {t.eventsNotShown(skipped.map(({ from, to }) => t.to(formatCount(from), formatCount(to))).join(', '))}
        </Notice>
      )}
      {connection.state === 'lost' ? (
        <Notice tone="bad" title={t.connectionLost} action={{ label: t.reconnect, run: run.follow }}>
          {connection.failure.message} <code>{connection.failure.code}</code>
        </Notice>
      ) : null}
      {connection.state === 'full' ? (
        <Notice tone="plain" title={t.tooManyEventsForThis} action={{ label: t.nextEvents, run: onContinue }}>
          {t.theExportContainsAll}
        </Notice>
      ) : null}
      {gaps.length > 0 ? (
        <Notice tone="plain" title={t.someEventsAreMissing}>
          {t.missingEventNumbers}{' '}
          {gaps.map(({ from, to }) => (to === null ? t.fromOnward(from) : t.to(from, to))).join(', ')}
        </Notice>
      ) : null}
    </>
  );
}

const DEBOUNCE_MS = 200;

/** Filters a run by kind, errors and text, and moves from error to error. */
export function FindBar({ run }: Readonly<{ run: OpenRun }>) {
  void run.redraws.page.value;
  const { filter } = run;
  const { kind, errorsOnly } = filter.query.value;
  const { conversation } = run.data;
  const timer = useTimer();
  const goToError = (step: 1 | -1): void => {
    const errorItem = findNextError(conversation, run.highlight.peek()?.item ?? null, step);
    const event = conversation.events[conversation.items[errorItem ?? -1]?.events[0] ?? -1];
    if (event !== undefined) run.selection.value = { pane: 'conversation', seq: event.seq };
  };
  useKeys(({ key }) => {
    if (key !== 'n' && key !== 'N') return false;
    goToError(key === 'n' ? 1 : -1);
    return true;
  });
  const count = filter.shown(conversation.items.length).count;
  return (
    <form class="find-bar" role="search" aria-label={t.findInRun} onSubmit={(event) => event.preventDefault()}>
      <input
        type="search"
        aria-label={t.findInRun}
        placeholder={t.findInRun}
        maxLength={200}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => {
          clearTimeout(timer.current);
          timer.current = setTimeout(() => filter.set({ text: currentTarget.value.trim() }), DEBOUNCE_MS);
        }}
      />
      <Select
        label={t.kind}
        value={kind ?? ''}
        options={[{ value: '', label: t.allKinds }, ...listStateOptions(ITEM_KINDS)]}
        onChange={(value) => filter.set({ kind: ITEM_KINDS.find((name) => name === value) ?? null })}
      />
      <Button
        label={t.errorsOnly}
        class="toggle"
        aria-pressed={errorsOnly}
        onClick={() => filter.set({ errorsOnly: !errorsOnly })}
      />
      <Button label={t.nextError} aria-keyshortcuts="n" onClick={() => goToError(1)} />
      <output class="dim find-count">
        {filter.isOn.value ? `${t.found(formatCount(count))}${filter.isDone.value ? '' : ' …'}` : ''}
      </output>
    </form>
  );
}

/** A timer that ends with its component. Apart from it, because an effect keeps what is around it: here, the run. */
function useTimer() {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return timer;
}

/** Replay controls: play and pause, a position slider, and the speed. At the end, everything is shown. */
export function ReplayBar({ run }: Readonly<{ run: OpenRun }>) {
  void run.redraws.page.value;
  const isPlaying = useSignal(false);
  const speed = useSignal<number>(SPEEDS[0]);
  const hasTime = findEnd(run) > findStart(run);
  const start = hasTime ? findStart(run) : 0;
  const end = hasTime ? findEnd(run) : 1;
  const position = run.replayTime.value ?? end;

  useEffect(() => {
    if (!isPlaying.value) return;
    let last = performance.now();
    let frame = requestAnimationFrame(function step(now) {
      const { conversation, list } = run.data;
      const times = chooseLongerTimes(list.times, conversation.times);
      const next = advance(times, run.replayTime.value ?? findStart(run), now - last, speed.value);
      last = now;
      const isOver = next >= (times.at(-1) ?? 0);
      run.replayTime.value = isOver ? null : next;
      if (isOver) isPlaying.value = false;
      else frame = requestAnimationFrame(step);
    });
    return () => cancelAnimationFrame(frame);
  }, [isPlaying.value]);

  return (
    <div class="replay" role="group" aria-label={t.replay}>
      <Button
        label={isPlaying.value ? t.pause : t.replay}
        disabled={!hasTime}
        onClick={() => {
          // At the end, the replay starts over.
          if (!isPlaying.value && run.replayTime.value === null) run.replayTime.value = start;
          isPlaying.value = !isPlaying.value;
        }}
      />
      <input
        type="range"
        disabled={!hasTime}
        min={0}
        max={end - start}
        step={chooseSliderStep(end - start)}
        value={position - start}
        aria-label={t.positionInTheRun}
        aria-valuetext={t.positionOf(formatOffset(position - start), formatOffset(end - start))}
        onInput={({ currentTarget }) => {
          isPlaying.value = false;
          run.replayTime.value = readSliderMoment(currentTarget.valueAsNumber, start, end);
        }}
      />
      <output class="clock">
        {hasTime ? `${formatOffset(position - start)} / ${formatOffset(end - start)}` : '–'}
      </output>
      <Select
        label={t.speed}
        value={String(speed.value)}
        options={SPEEDS.map((factor) => ({ value: String(factor), label: `${factor}×` }))}
        onChange={(factor) => (speed.value = Number(factor))}
      />
    </div>
  );
}

const MAX_WAIT_MS = 1500;
const SPEEDS = [1, 2, 5, 20, 100] as const;

/** Returns the times of the pane that ends later: the other can be truncated or disconnected. */
export function chooseLongerTimes(one: readonly number[], other: readonly number[]): readonly number[] {
  return (one.at(-1) ?? 0) >= (other.at(-1) ?? 0) ? one : other;
}

export function chooseSliderStep(lengthMs: number): number {
  return Math.max(1, Math.round(lengthMs / 1000));
}

/** Returns the time at a slider position; null for the last one, which means the end. */
export function readSliderMoment(ms: number, start: number, end: number): number | null {
  const length = end - start;
  return ms + chooseSliderStep(length) > length ? null : start + ms;
}

/** Advances a replay by `elapsedMs` at a speed. Long pauses are shortened. */
export function advance(times: readonly number[], position: number, elapsedMs: number, speed: number): number {
  const target = position + elapsedMs * speed;
  const end = times.at(-1) ?? position;
  const next = times[findFirstAbove(times, position)];
  if (next === undefined || target >= end) return Math.max(position, end);
  return Math.max(target, next - MAX_WAIT_MS * speed);
}
