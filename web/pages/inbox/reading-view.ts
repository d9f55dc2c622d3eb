import type { InboxItem } from '../../../src/api/index.js';

type Reading = InboxItem['reading'];

/** Whether the commit a worker names is in the repository. */
export type CommitCheck = 'none' | 'found' | 'not found' | 'not checked';

const SOURCES: Readonly<Record<Reading['source'], string>> = {
  json: 'a JSON file',
  text: 'a text file',
  streams: 'the output streams (not a result)',
  none: 'nothing: the worker left no result',
};

/** Where a result was read from, in words. */
export function describeSource({ source, path }: Reading): string {
  return path === undefined || source === 'none' ? SOURCES[source] : `${SOURCES[source]}: ${path}`;
}

/** Whether a result can be accepted unchanged: read strictly, and of the very run that the item is about. */
export function isAcceptable(
  { result }: Reading,
  item: { readonly issue_ref: string; readonly run_id: string },
): boolean {
  return result !== undefined && result.issue_ref === item.issue_ref && result.run_id === item.run_id;
}

/** Returns what is known of the commit that a result names. */
export function checkCommit({ result, problems, notices = [] }: Reading): CommitCheck {
  if (result?.changes.commit === undefined) return 'none';
  const codes = [...problems, ...notices].map(({ code }) => code);
  if (codes.includes('COMMIT_NOT_FOUND')) return 'not found';
  return UNCHECKED.some((code) => codes.includes(code)) ? 'not checked' : 'found';
}

/** `COMMIT_NOT_CHECKED` is in records of 0.1.0. */
const UNCHECKED = ['COMMIT_UNCHECKED', 'NOT_A_REPOSITORY', 'COMMIT_NOT_CHECKED'];
