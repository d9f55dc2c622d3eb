import type { WaitingEntry } from '../../../src/server/api/index.js';
import { toOneLine } from '../../ui/format.js';

type QueueGroup = Readonly<{ title: string; entries: readonly WaitingEntry[] }>;

const GROUPS: readonly Readonly<{ title: string; kinds: readonly WaitingEntry['kind'][] }>[] = [
  { title: 'Waiting agents', kinds: ['question', 'permission'] },
  { title: 'Deliveries', kinds: ['sink'] },
  { title: 'Results to review', kinds: ['result'] },
];

/** Groups the entries into sections; empty sections are omitted. */
export function groupEntries(entries: readonly WaitingEntry[]): readonly QueueGroup[] {
  return GROUPS.map(({ title, kinds }) => ({
    title,
    entries: entries.filter(({ kind }) => kinds.includes(kind)),
  })).filter((group) => group.entries.length > 0);
}

/** Finds the entries that contain all search words. */
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
      return [entry.kind, entry.text, entry.engine, entry.task, entry.run, entry.issue_ref ?? ''];
    case 'sink':
      return ['sink delivery', entry.sink, entry.text, entry.state];
    case 'result':
      return ['result', entry.issue_ref, entry.run, entry.run_id, entry.text, entry.code, entry.next];
  }
}

/** Returns a row's title. */
export function getEntryTitle(entry: WaitingEntry): string {
  if (entry.kind === 'sink') return entry.sink;
  return entry.kind === 'result' ? entry.issue_ref : toOneLine(entry.task) || entry.engine;
}

/** The possible bulk actions. */
export type BulkAction = 'accept' | 'retry' | 'reject' | 'allow' | 'deny' | 'redeliver';

const LABELS: Readonly<Record<BulkAction, readonly [label: string, progress: string]>> = {
  accept: ['Accept', 'Accepting'],
  retry: ['Retry', 'Retrying'],
  reject: ['Reject', 'Rejecting'],
  allow: ['Allow', 'Allowing'],
  deny: ['Deny', 'Denying'],
  redeliver: ['Redeliver', 'Redelivering'],
};

/** Returns the button label. */
export function labelAction(action: BulkAction): string {
  return LABELS[action][0];
}

/** Describes an action that is about to be sent: `Rejecting 3 results`. */
export function describeAction(action: BulkAction, entries: readonly WaitingEntry[]): string {
  const [first] = entries;
  const noun = first === undefined ? 'entry' : NOUNS[first.kind];
  return `${LABELS[action][1]} ${entries.length} ${noun}${entries.length === 1 ? '' : 's'}`;
}

const NOUNS: Readonly<Record<WaitingEntry['kind'], string>> = {
  question: 'question',
  permission: 'permission request',
  sink: 'sink',
  result: 'result',
};

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
      return (['allow', 'deny'] as const).filter((action) => findOption(entry, action) !== undefined);
    case 'sink':
      return ['redeliver'];
    case 'result':
      return entry.acceptable ? ['accept', 'retry', 'reject'] : ['retry', 'reject'];
  }
}

/** Finds the option that allows or denies a permission request once; falls back to the option for always. */
export function findOption(
  { options }: Extract<WaitingEntry, { kind: 'permission' }>,
  action: 'allow' | 'deny',
): { readonly id: string } | undefined {
  const word = action === 'allow' ? 'allow' : 'reject';
  return options.find(({ kind }) => kind === `${word}_once`) ?? options.find(({ kind }) => kind === `${word}_always`);
}

/** Whether an action needs a reason, which the comment quotes. */
export function needsReason(action: BulkAction): boolean {
  return action === 'accept' || action === 'retry' || action === 'reject';
}
