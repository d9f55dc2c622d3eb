import { computed, signal } from '@preact/signals';
import type { WaitingEntry } from '../../src/server/api/index.js';
import type { WorkerRecord } from '../../src/store/records/index.js';
import { client, getServerTime } from './client.js';
import { asFailure, choosePollDelay, type Failure } from './resource.js';
import { formatCount, toOneLine } from '../ui/text.js';
import { t } from '../app/texts.js';

export type Waiting = Readonly<{ entries: readonly WaitingEntry[]; complete: boolean }>;

/** The waiting entries, polled for the badge and the title and shared with the pages. Null until the first response. */
export const waiting = signal<Waiting | null>(null);

export const waitingFailure = signal<Failure | null>(null);

/** The workers that reported within the last day; null until known. */
export const workers = signal<readonly WorkerRecord[] | null>(null);

export const hasWorker = computed(() => workers.value?.some(({ state }) => state === 'alive') ?? null);

/** The workers that died and still matter: see {@link findDead}. */
export const deadWorkers = computed(() => findDead(workers.value ?? [], getServerTime()));

const RECENT_MS = 3_600_000;

/** Finds workers that are gone and hold runs, left their host without a worker, or died within the last hour. */
export function findDead(all: readonly WorkerRecord[], now: number): readonly WorkerRecord[] {
  const aliveHosts = new Set(all.filter(({ state }) => state === 'alive').map(({ host }) => host));
  return all.filter(
    ({ state, runs, host, seen_at }) =>
      state === 'gone' && (runs.length > 0 || !aliveHosts.has(host) || Date.parse(seen_at) > now - RECENT_MS),
  );
}

/** Hidden tabs poll too, for the count in the title and for notifications. */
const HIDDEN_POLL_MS = 15_000;
/** Workers are polled less often than entries; a lost worker is still noticed within seconds. */
const WORKERS_POLL_MS = 10_000;

export async function loadWaiting(abort?: AbortSignal): Promise<void> {
  try {
    const { items, complete } = await client.listWaiting(abort === undefined ? {} : { signal: abort });
    if (abort?.aborted === true) return;
    waiting.value = { entries: items, complete };
    waitingFailure.value = null;
  } catch (error) {
    if (abort?.aborted !== true) waitingFailure.value = asFailure(error);
  }
}

/** Polls until stopped; `onNew` is called with new entries. */
export function watchWaiting(onNew: (entries: readonly WaitingEntry[]) => void): () => void {
  const control = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let workersLoadedAt = Number.NEGATIVE_INFINITY;
  const poll = async (): Promise<void> => {
    clearTimeout(timer);
    const previousWaiting = waiting.peek();
    await loadWaiting(control.signal);
    const now = waiting.peek();
    if (previousWaiting !== null && now !== null) {
      const known = new Set(previousWaiting.entries.map(({ id }) => id));
      const newEntries = now.entries.filter(({ id }) => !known.has(id));
      if (newEntries.length > 0) onNew(newEntries);
    }
    if (!document.hidden && performance.now() - workersLoadedAt >= WORKERS_POLL_MS) {
      workersLoadedAt = performance.now();
      await loadWorkers(control.signal);
    }
    if (control.signal.aborted) return;
    clearTimeout(timer);
    timer = setTimeout(() => void poll(), document.hidden ? HIDDEN_POLL_MS : choosePollDelay());
  };
  const onVisibility = (): void => {
    if (!document.hidden) void poll();
  };
  document.addEventListener('visibilitychange', onVisibility);
  void poll();
  return () => {
    control.abort();
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', onVisibility);
  };
}

async function loadWorkers(abort: AbortSignal): Promise<void> {
  try {
    const { items } = await client.listWorkers({ signal: abort });
    workers.value = items;
  } catch {
    // The page already reports that the server does not respond; the state of workers is unknown.
  }
}

/** Formats the entry count, the same everywhere: empty for zero, `200+` for an incomplete list. */
export function formatWaiting({ entries, complete }: Waiting): string {
  if (entries.length === 0) return '';
  return complete ? String(entries.length) : `${entries.length}+`;
}

export function findOpenItem(known: Waiting | null, run: string): WaitingEntry | undefined {
  return known?.entries.find((entry) => entry.kind === 'result' && entry.run === run);
}

export function findEntry(id: string): WaitingEntry | undefined {
  return waiting.value?.entries.find((entry) => entry.id === id);
}

export function getEntryPath({ kind, id }: WaitingEntry): string {
  return kind === 'result' ? `/inbox/${encodeURIComponent(id)}` : `/inbox?entry=${encodeURIComponent(id)}`;
}

export function getEntryTitle(entry: WaitingEntry): string {
  if (entry.kind === 'sink') return entry.sink;
  return entry.kind === 'result' ? entry.issue_ref : toOneLine(entry.task) || entry.engine;
}

/** Returns a row's text. A permission request is described in words, because its raw text is the tool's input. */
export function getEntryText(entry: WaitingEntry): string {
  return entry.kind === 'permission' ? describeTool(entry) : entry.text;
}

function describeTool({ tool, command, changes }: Extract<WaitingEntry, { kind: 'permission' }>): string {
  if (command !== null) return t.wantsToRun(toOneLine(command, 200));
  const [first] = changes;
  if (first === undefined) return t.wantsToUse(tool);
  const names = changes.length === 1 ? first.path : t.someFiles(changes.length, first.path);
  return t.wantsToEdit(names, describeSize(changes));
}

function describeSize(changes: readonly Readonly<{ added: number | null; removed: number | null }>[]): string {
  const sum = (field: 'added' | 'removed'): number =>
    changes.reduce((total, change) => total + (change[field] ?? 0), 0);
  const isKnown = changes.every(({ added }) => added !== null);
  return isKnown ? `, +${formatCount(sum('added'))} −${formatCount(sum('removed'))}` : t.tooLongToCount;
}
