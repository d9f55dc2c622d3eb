import { computed, signal } from '@preact/signals';
import type { EventGap } from '../../../src/server/client/index.js';
import type { FcmpEvent } from '../../../src/events/index.js';
import { client, getServerTime } from '../../data/client.js';
import { createConversation } from './conversation.js';
import { createEventList, createRawRows, readStreamSizes, createRawBlocks } from './raw-bytes.js';
import { createItemFilter } from './item-filter.js';
import { isRasp, createFollower, findLogEnd, sleep } from './follow-events.js';
import { findHighlight, type Highlight, type RunData, type Selection } from './highlight.js';

/** A tab of the inspector; on a narrow screen, also the conversation and the timeline. */
export type TabName =
  | 'conversation'
  | 'timeline'
  | 'question'
  | 'result'
  | 'event'
  | 'raw'
  | 'files'
  | 'diff'
  | 'attempts'
  | 'task';

type Range = Readonly<{ from: number; to: number }>;
/** A position in both logs: the last event before it. */
type Position = Parameters<ReturnType<typeof createFollower>['skip']>[0];

export type OpenRun = ReturnType<typeof openRun>;

/** A hidden tab disconnects after this time: a browser opens at most six connections per server across all tabs. */
const HIDDEN_TIMEOUT_MS = 10_000;
const MAX_GAPS = 100;
/** If the files are not available when the run ends, they are looked up again after these delays. */
const FILE_RETRY_DELAYS_MS = [3000, 10_000, 30_000];
const BACKLOG_INTERVAL_MS = 1000;
/** Events older than this on arrival mean that the page is behind. */
const MAX_DELAY_MS = 5000;

export function openRun(id: string, at: Selection | null, start?: Position) {
  const data: RunData = { conversation: createConversation(), list: createEventList(), rows: createRawRows() };
  const redraws = { page: signal(0), timeline: signal(0), conversation: signal(0), events: signal(0), raw: signal(0) };
  const redraw = createRedraw(Object.values(redraws).map((counter) => () => (counter.value += 1)));
  const filter = createItemFilter(data.conversation, redraw);
  const gaps = signal<readonly EventGap[]>([]);
  const selection = signal(at);
  let control = new AbortController();
  let hiddenTimer: ReturnType<typeof setTimeout> | undefined;
  let backlogTimer: ReturnType<typeof setTimeout> | undefined;
  const behind = signal<number | null>(null);
  const skipped = signal<readonly Range[]>(start === undefined ? [] : [{ from: 1, to: start.fcmp }]);
  /** The last event's time on the server's clock, and when it arrived. */
  let lastEvent = { at: 0, arrivedAt: Number.NEGATIVE_INFINITY };

  const blocks = createRawBlocks(
    async ({ attempt_number, stream, byte_from, byte_to }) =>
      client.readRaw({ id, attempt: attempt_number, stream, from: byte_from, to: byte_to }),
    redraw,
  );
  const onGap = (gap: EventGap): void => void (gaps.value = [...gaps.value, gap].slice(-MAX_GAPS));
  const follower = createFollower({
    client,
    id,
    onEvent(event) {
      lastEvent = { at: Date.parse(event.ts), arrivedAt: performance.now() };
      if (isRasp(event)) {
        data.rows.addEvent(event, data.list.append(event));
      } else {
        data.conversation.append(event);
        filter.update();
      }
      redraw();
    },
    onGap,
  });
  if (start !== undefined) follower.skip(start);

  /** Reads the stream sizes, so bytes without an event are shown too. Returns false if the files are not available. */
  async function readSizes(stop: AbortSignal): Promise<boolean> {
    const { evidence, source } = await client.listRunFiles({ id, signal: stop });
    for (const { name, size } of readStreamSizes(evidence)) data.rows.setSize(name, size);
    if (source !== null && blocks.problems().length > 0) blocks.retry();
    redraw();
    return source !== null;
  }
  async function followAll(stop: AbortSignal): Promise<void> {
    await follower.follow(stop);
    if (!follower.isOver()) return;
    // The files might exist only on the worker's host. An archive has them a few seconds after the run ends.
    for (const waitMs of [0, ...FILE_RETRY_DELAYS_MS]) {
      await sleep(waitMs, stop);
      if (stop.aborted || (await readSizes(stop).catch(() => false))) return;
    }
  }
  const getLastSeq = (): number => data.conversation.events.at(-1)?.seq ?? 0;
  const readEvent = async (protocol: 'fcmp' | 'rasp', position: string): Promise<unknown> => {
    const query = { protocol, from: position, to: position };
    return (await client.readHistory({ id, query, signal: control.signal })).events[0];
  };
  const hasEvent = async (seq: number): Promise<boolean> => (await readEvent('fcmp', String(seq))) !== undefined;

  async function jumpToEnd(): Promise<void> {
    // The page stands still meanwhile, so it does not catch up with the end that is looked for.
    control.abort();
    control = new AbortController();
    try {
      const from = getLastSeq() + 1;
      const to = await findLogEnd(getLastSeq(), hasEvent);
      if (from > to) return;
      // Safe cast: the server is part of the same package.
      const { attempt } = ((await readEvent('fcmp', String(to))) as FcmpEvent).meta;
      const last = data.list.events.at(-1);
      const known = last?.attempt_number === attempt ? last.seq : 0;
      const seq = await findLogEnd(
        known,
        async (next) => (await readEvent('rasp', `${attempt}:${next}`)) !== undefined,
      );
      follower.skip({ fcmp: to, rasp: { attempt, seq } });
      skipped.value = [...skipped.value, { from, to }];
    } finally {
      follow();
    }
  }

  async function measureBacklog(): Promise<void> {
    const { signal: stop } = control;
    const isArriving = performance.now() - lastEvent.arrivedAt < BACKLOG_INTERVAL_MS;
    const isOld = getServerTime() - lastEvent.at > MAX_DELAY_MS;
    const isBehind = follower.state.value.state === 'live' && isArriving && isOld;
    const end = isBehind ? await findLogEnd(getLastSeq(), hasEvent).catch(getLastSeq) : getLastSeq();
    behind.value = end - getLastSeq() > 0 ? end - getLastSeq() : null;
    clearTimeout(backlogTimer);
    // A run that was left meanwhile would be kept in memory by its timer.
    if (stop.aborted || follower.isOver()) return;
    backlogTimer = setTimeout(() => void measureBacklog(), BACKLOG_INTERVAL_MS);
  }
  function follow(): void {
    control.abort();
    control = new AbortController();
    clearTimeout(backlogTimer);
    backlogTimer = setTimeout(() => void measureBacklog(), BACKLOG_INTERVAL_MS);
    document.addEventListener('visibilitychange', onVisibility);
    void followAll(control.signal);
  }
  function pause(): void {
    control.abort();
    follower.pause();
  }
  function onVisibility(): void {
    clearTimeout(hiddenTimer);
    if (document.hidden) hiddenTimer = setTimeout(pause, HIDDEN_TIMEOUT_MS);
    else if (follower.state.value.state === 'paused') follow();
  }

  return {
    id,
    data,
    blocks,
    filter,
    /** Counters that change when there is something new to draw, one per pane. */
    redraws,
    connection: follower.state,
    /** Events that the server no longer has. */
    gaps,
    /** The start and end of the run, in milliseconds; null until they are known. */
    span: signal<Readonly<{ start: number | null; end: number | null }>>({ start: null, end: null }),
    selection,
    tab: signal<TabName | null>(null),
    highlight: computed((): Highlight | null => {
      void redraws.page.value;
      return selection.value === null ? null : findHighlight(data, selection.value);
    }),
    /** The replayed time, in milliseconds; null if everything is shown. */
    replayTime: signal<number | null>(null),
    /** How many events the page is behind the run, at least; null if it is up to date. */
    behind,
    /** The events that are not on the page, because it jumped to the end or reached its limit. */
    skipped,
    /** Continues near the end of the run. If the server does not respond, the page continues to catch up. */
    jumpToEnd: (): void => void jumpToEnd().catch(() => undefined),
    /** Follows the run until it ends. Can be called again after a connection was lost. */
    follow,
    close: (): void => {
      clearTimeout(backlogTimer);
      document.removeEventListener('visibilitychange', onVisibility);
      clearTimeout(hiddenTimer);
      control.abort();
    },
  };
}

/** Opens a run again whose page has reached its limit, with only a fraction of its events: the last ones. */
export function reopenRun({ id, data, tab, filter }: OpenRun, kept: number): OpenRun {
  const { events } = data.conversation;
  const findLast = (count: number): number => Math.ceil(count * (1 - kept)) - 1;
  const rasp = data.list.events[findLast(data.list.events.length)];
  const next = openRun(id, null, {
    fcmp: events[findLast(events.length)]?.seq ?? 0,
    rasp: { attempt: rasp?.attempt_number ?? 0, seq: rasp?.seq ?? 0 },
  });
  next.tab.value = tab.value;
  next.filter.set(filter.query.value);
  return next;
}

/** The minimum time between redraws; drawing more often makes no visible difference. */
const REDRAW_MS = 80;

/** Creates a function that schedules the redraws, each in a separate frame: all panes in one frame take too long. */
function createRedraw(redraws: readonly (() => void)[]): () => void {
  let isDue = false;
  let last = Number.NEGATIVE_INFINITY;
  function step(index: number): void {
    requestAnimationFrame((now) => {
      // From here on, new events need another round of redraws.
      if (index === 0) {
        isDue = false;
        last = now;
      }
      redraws[index]?.();
      if (index + 1 < redraws.length) step(index + 1);
    });
  }
  return () => {
    if (isDue) return;
    isDue = true;
    setTimeout(() => step(0), Math.max(0, last + REDRAW_MS - performance.now()));
  };
}
