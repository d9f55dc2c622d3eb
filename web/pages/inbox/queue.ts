import type { WaitingEntry } from '../../../src/server/api/index.js';
import { getEntryText } from '../../data/waiting.js';
import { t } from './texts.js';

const GROUPS: readonly Readonly<{ title: string; kinds: readonly WaitingEntry['kind'][] }>[] = [
  { title: t.waitingAgents, kinds: ['question', 'permission'] },
  { title: t.deliveries, kinds: ['sink'] },
  { title: t.resultsToReview, kinds: ['result'] },
];

/** Groups the entries into sections; empty sections are omitted. */
export function groupEntries(entries: readonly WaitingEntry[]) {
  return GROUPS.map(({ title, kinds }) => ({
    title,
    entries: entries.filter(({ kind }) => kinds.includes(kind)),
  })).filter((group) => group.entries.length > 0);
}

export function searchEntries(entries: readonly WaitingEntry[], search: string): readonly WaitingEntry[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return entries;
  return entries.filter((entry) => {
    const text = listTexts(entry).join('\n').toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

function listTexts(entry: WaitingEntry): readonly string[] {
  switch (entry.kind) {
    case 'question':
    case 'permission':
      return [
        t.searchWords[entry.kind],
        entry.text,
        getEntryText(entry),
        entry.engine,
        entry.task,
        entry.run,
        entry.issue_ref ?? '',
      ];
    case 'sink':
      return [t.searchWords.sink, entry.sink, entry.text, entry.state];
    case 'result':
      return [t.searchWords.result, entry.issue_ref, entry.run, entry.run_id, entry.text, entry.code, entry.next];
  }
}

/** Finds the entry to open after one was decided: the next one in the list, or else the first. */
export function findNext(
  entries: readonly WaitingEntry[],
  id: string,
  pendingIds: ReadonlySet<string>,
): WaitingEntry | undefined {
  const index = entries.findIndex((entry) => entry.id === id);
  const open = [...entries.slice(index + 1), ...entries.slice(0, Math.max(0, index))];
  return open.find((entry) => !pendingIds.has(entry.id));
}

/** The possible bulk actions. There is none that allows: a grant is given next to what it allows. */
export type BulkAction = 'accept' | 'retry' | 'reject' | 'deny' | 'redeliver';

/** Describes an action that is about to be sent: `Rejecting 3 results`. */
export function describeAction(action: BulkAction, entries: readonly WaitingEntry[]): string {
  return t.sending(t.bulk[action][1], entries.length, t.nouns[entries[0]?.kind ?? 'result']);
}

/** Lists the actions that all of these entries support. Questions support none, because each needs its own answer. */
export function listBulkActions(entries: readonly WaitingEntry[]): readonly BulkAction[] {
  const [first] = entries;
  if (first === undefined) return [];
  return listActions(first).filter((action) => entries.every((entry) => listActions(entry).includes(action)));
}

function listActions(entry: WaitingEntry): readonly BulkAction[] {
  switch (entry.kind) {
    case 'question':
      return [];
    case 'permission':
      return findDenial(entry) === undefined ? [] : ['deny'];
    case 'sink':
      return ['redeliver'];
    case 'result':
      return entry.acceptable ? ['accept', 'retry', 'reject'] : ['retry', 'reject'];
  }
}

/** Finds the option that denies a permission request once; an option for always is never chosen instead. */
export function findDenial({
  options,
}: Extract<WaitingEntry, { kind: 'permission' }>): { readonly id: string } | undefined {
  return options.find(({ kind }) => kind === 'reject_once');
}

/** Whether an action needs a reason, which the comment quotes. */
export function needsReason(action: BulkAction): boolean {
  return action === 'accept' || action === 'retry' || action === 'reject';
}
