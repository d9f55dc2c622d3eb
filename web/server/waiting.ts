import { signal } from '@preact/signals';
import type { WaitingEntry } from '../../src/api/index.js';
import { client } from './client.js';
import { asFailure } from './use-resource.js';
import type { Failure } from './use-resource.js';

/** Results and questions that need a person. */
export interface Waiting {
  readonly entries: readonly WaitingEntry[];
  /** False if there is more than is listed. */
  readonly complete: boolean;
}

/** The waiting entries; polled for the badge and the title, and shared with the pages. Null until the first response. */
export const waiting = signal<Waiting | null>(null);

/** Why the last request failed; null if it did not. */
export const waitingFailure = signal<Failure | null>(null);

/** Whether a worker is alive; null until it is known. */
export const hasWorker = signal<boolean | null>(null);

const EVERY_MS = 2000;
/** A hidden tab still has its count in the title, and may notify. */
const HIDDEN_EVERY_MS = 15_000;
/** Workers report every few seconds; one that is gone is noticed soon enough. */
const WORKERS_EVERY_MS = 10_000;

/** Asks now. */
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

/** Polls until it is stopped; `onNew` is called with new entries. */
export function watchWaiting(onNew: (entries: readonly WaitingEntry[]) => void): () => void {
  const control = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let workersAt = Number.NEGATIVE_INFINITY;
  const ask = async (): Promise<void> => {
    clearTimeout(timer);
    const before = waiting.peek();
    await loadWaiting(control.signal);
    const now = waiting.peek();
    if (before !== null && now !== null) {
      const added = findNew(before.entries, now.entries);
      if (added.length > 0) onNew(added);
    }
    if (!document.hidden && performance.now() - workersAt >= WORKERS_EVERY_MS) {
      workersAt = performance.now();
      await loadWorkers(control.signal);
    }
    if (control.signal.aborted) return;
    clearTimeout(timer);
    timer = setTimeout(() => void ask(), document.hidden ? HIDDEN_EVERY_MS : EVERY_MS);
  };
  const onVisibility = (): void => {
    if (!document.hidden) void ask();
  };
  document.addEventListener('visibilitychange', onVisibility);
  void ask();
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
    // The page says that the server does not answer; nothing is known of workers.
  }
}

/** The entries that were not there before. */
function findNew(before: readonly WaitingEntry[], now: readonly WaitingEntry[]): readonly WaitingEntry[] {
  const known = new Set(before.map(({ id }) => id));
  return now.filter(({ id }) => !known.has(id));
}

/** The number on the badge, as text: empty for nothing, `99+` for very many. */
export function formatWaiting({ entries, complete }: Waiting): string {
  if (entries.length === 0) return '';
  return entries.length > 99 || !complete ? '99+' : String(entries.length);
}

/** The open inbox item about a run, if one is known. */
export function findOpenItem(known: Waiting | null, run: string): WaitingEntry | undefined {
  return known?.entries.find((entry) => entry.kind === 'result' && entry.run === run);
}

/** The address of an entry in the inbox. */
export function entryPath({ kind, id }: WaitingEntry): string {
  return kind === 'result' ? `/inbox/${encodeURIComponent(id)}` : `/inbox?entry=${encodeURIComponent(id)}`;
}
