import { signal } from '@preact/signals';
import type { WaitingEntry } from '../../src/server/api/index.js';
import { client } from './client.js';
import { asFailure, type Failure } from './resource.js';

/** Everything that is waiting for a user. */
export interface Waiting {
  readonly entries: readonly WaitingEntry[];
  readonly complete: boolean;
}

/** The waiting entries, polled for the badge and the title and shared with the pages. Null until the first response. */
export const waiting = signal<Waiting | null>(null);

/** The last request's failure, or null if it succeeded. */
export const waitingFailure = signal<Failure | null>(null);

/** Whether a worker is alive; null until known. */
export const hasWorker = signal<boolean | null>(null);

const POLL_MS = 2000;
/** Hidden tabs poll too, for the count in the title and for notifications. */
const HIDDEN_POLL_MS = 15_000;
/** Workers are polled less often than entries; a lost worker is still noticed within seconds. */
const WORKERS_POLL_MS = 10_000;

/** Loads the entries immediately. */
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
      const newEntries = findNew(previousWaiting.entries, now.entries);
      if (newEntries.length > 0) onNew(newEntries);
    }
    if (!document.hidden && performance.now() - workersLoadedAt >= WORKERS_POLL_MS) {
      workersLoadedAt = performance.now();
      await loadWorkers(control.signal);
    }
    if (control.signal.aborted) return;
    clearTimeout(timer);
    timer = setTimeout(() => void poll(), document.hidden ? HIDDEN_POLL_MS : POLL_MS);
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
    hasWorker.value = items.some(({ state }) => state === 'alive');
  } catch {
    // The page already reports that the server does not respond; the state of workers is unknown.
  }
}

function findNew(previousWaiting: readonly WaitingEntry[], now: readonly WaitingEntry[]): readonly WaitingEntry[] {
  const knownIds = new Set(previousWaiting.map(({ id }) => id));
  return now.filter(({ id }) => !knownIds.has(id));
}

/** Formats the entry count, the same everywhere: empty for zero, `200+` for an incomplete list. */
export function formatWaiting({ entries, complete }: Waiting): string {
  if (entries.length === 0) return '';
  return complete ? String(entries.length) : `${entries.length}+`;
}

/** Finds a run's open inbox item. */
export function findOpenItem(known: Waiting | null, run: string): WaitingEntry | undefined {
  return known?.entries.find((entry) => entry.kind === 'result' && entry.run === run);
}

/** Returns an entry's path in the inbox. */
export function getEntryPath({ kind, id }: WaitingEntry): string {
  return kind === 'result' ? `/inbox/${encodeURIComponent(id)}` : `/inbox?entry=${encodeURIComponent(id)}`;
}
