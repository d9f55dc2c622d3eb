import type { InboxItem } from '../../../src/api/index.js';

type Reading = InboxItem['reading'];

/** The outcome of looking up a reported commit in the repository. */
export type CommitCheck = 'none' | 'found' | 'not found' | 'not checked';

const SOURCES: Readonly<Record<Reading['source'], string>> = {
  json: 'JSON file',
  text: 'Text file',
  streams: 'Output streams (not a result)',
  none: 'Nothing: the agent left no result',
};

/** Describes where a result was found. */
export function describeSource({ source, path }: Reading): string {
  return path === undefined || source === 'none' ? SOURCES[source] : `${SOURCES[source]}: ${path}`;
}

/** Whether a result can be accepted unchanged: it needed no repairs and belongs to the item's run. */
export function isAcceptable(
  { result }: Reading,
  item: { readonly issue_ref: string; readonly run_id: string },
): boolean {
  return result !== undefined && result.issue_ref === item.issue_ref && result.run_id === item.run_id;
}

/** Returns the lookup outcome for the commit that a result names. */
export function checkCommit({ result, problems, notices = [] }: Reading): CommitCheck {
  if (result?.changes.commit === undefined) return 'none';
  const codes = [...problems, ...notices].map(({ code }) => code);
  if (codes.includes('COMMIT_NOT_FOUND')) return 'not found';
  return UNCHECKED.some((code) => codes.includes(code)) ? 'not checked' : 'found';
}

/** Error codes of failed commit lookups. `COMMIT_NOT_CHECKED` occurs in records written by version 0.1.0. */
const UNCHECKED = ['COMMIT_UNCHECKED', 'NOT_A_REPOSITORY', 'COMMIT_NOT_CHECKED'];
