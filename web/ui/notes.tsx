import { SafeText } from './safe-text.js';
import { isRecord, asText } from './read-unknown.js';

/** More of them say nothing new. */
const MOST = 50;

/** What was noticed about a result: in words, with the code to look it up by. */
export function Notes({ notes }: { readonly notes: readonly NoteView[] }) {
  return (
    <ul class="notes">
      {notes.slice(0, MOST).map(({ code, message, path }, index) => (
        <li key={index}>
          <SafeText text={path === '' ? message : `${path}: ${message}`} /> <code class="dim">{code}</code>
        </li>
      ))}
      {notes.length > MOST ? <li class="dim">and {notes.length - MOST} more</li> : null}
    </ul>
  );
}

/** Something that was noticed about a result. */
export interface NoteView {
  readonly code: string;
  readonly message: string;
  /** Where in the result; empty if it is about the whole. */
  readonly path: string;
}

/** Reads a list of problems or notices. Entries of another shape are dropped. */
export function readNotes(value: unknown): readonly NoteView[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isRecord).map(({ code, message, path }) => ({
    code: asText(code),
    message: asText(message),
    path: asText(path),
  }));
}
