import { signal } from '@preact/signals';
import type { InboxItem, RunSummary } from '../../src/api/index.js';
import { client } from './client.js';

/** What waits for a person: results to review, and runs whose agent asked a question. */
export interface Waiting {
  readonly items: readonly InboxItem[];
  readonly questions: readonly RunSummary[];
}

/** More than these are not counted; the lists of the pages have all of them. */
const MOST = 100;

/** What waits now; polled for the badge of the navigation, and shared with the pages. Null until the first answer. */
export const waiting = signal<Waiting | null>(null);

/** Asks the server for both lists at once. */
export async function loadWaiting(abort: AbortSignal): Promise<Waiting> {
  const [inbox, asking] = await Promise.all([
    client.listInbox({ query: { open: 'true', limit: MOST }, signal: abort }),
    client.listRuns({ query: { state: 'waiting', limit: MOST }, signal: abort }),
  ]);
  waiting.value = { items: inbox.items, questions: asking.items };
  return waiting.value;
}

/** The number on the badge, as text: empty for nothing, and not counted beyond the limit. */
export function formatWaiting({ items, questions }: Waiting): string {
  const count = items.length + questions.length;
  if (count === 0) return '';
  return count >= MOST ? `${MOST - 1}+` : String(count);
}

/** The open inbox item about a run, if one is known. */
export function findOpenItem(known: Waiting | null, run: string): InboxItem | undefined {
  return known?.items.find((item) => item.run === run);
}
