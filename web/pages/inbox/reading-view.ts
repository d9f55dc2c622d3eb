import { readNotes } from '../../ui/notes.js';
import type { NoteView } from '../../ui/notes.js';
import { isRecord } from '../../ui/read-unknown.js';

/** What was found of a worker's result, ready to be shown. */
export interface ReadingView {
  /** Where it was read, in words. */
  readonly source: string;
  readonly problems: readonly NoteView[];
  readonly notices: readonly NoteView[];
  /** What the streams said in passing. */
  readonly anchors: readonly (readonly [name: string, value: string])[];
  /** What was read strictly; undefined if nothing was. */
  readonly result: Readonly<Record<string, unknown>> | undefined;
  /** A repaired reading, which decides nothing. */
  readonly draft: unknown;
  readonly commit: CommitCheck;
}

/** Whether the commit a worker names is in the repository. */
export type CommitCheck = 'none named' | 'found' | 'not found' | 'not checked';

const SOURCES: Readonly<Record<string, string>> = {
  json: 'a JSON file',
  text: 'a text file',
  streams: 'the output streams (not a result)',
  none: 'nothing: the worker left no result',
};

/** Reads a reading. Its shape is the server's word; what does not fit is left out, not trusted. */
export function viewReading(reading: Readonly<Record<string, unknown>>): ReadingView {
  const { source, path, problems, notices, anchors, result, draft } = reading;
  const words = SOURCES[String(source)] ?? String(source);
  const named = isRecord(result) ? result : undefined;
  const view = { problems: readNotes(problems), notices: readNotes(notices) };
  return {
    ...view,
    source: typeof path === 'string' && source !== 'none' ? `${words}: ${path}` : words,
    anchors: isRecord(anchors) ? Object.entries(anchors).map(([name, value]) => [name, String(value)] as const) : [],
    result: named,
    draft,
    commit: checkCommit(named, [...view.problems, ...view.notices]),
  };
}

/** Whether a result can be accepted as it is: read strictly, and of the very run that is asked about. */
export function isAcceptable(
  { result }: ReadingView,
  item: { readonly issue_ref: string; readonly run_id: string },
): boolean {
  return result !== undefined && result['issue_ref'] === item.issue_ref && result['run_id'] === item.run_id;
}

function checkCommit(result: ReadingView['result'], notes: readonly NoteView[]): CommitCheck {
  const changes = result?.['changes'];
  if (!isRecord(changes) || typeof changes['commit'] !== 'string') return 'none named';
  if (notes.some(({ code }) => code === 'COMMIT_NOT_FOUND')) return 'not found';
  return notes.some(({ code }) => code === 'COMMIT_UNCHECKED' || code === 'COMMIT_NOT_CHECKED')
    ? 'not checked'
    : 'found';
}
