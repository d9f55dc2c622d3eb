import { SafeText } from './safe-text.js';

/** More of them say nothing new. */
const MOST = 50;

/** Notes on a result: in words, with the code to look it up by. */
export function Notes({ notes }: { readonly notes: readonly NoteView[] }) {
  return (
    <ul class="notes">
      {notes.slice(0, MOST).map(({ code, message, path }, index) => (
        <li key={index}>
          <SafeText text={path === undefined ? message : `${path}: ${message}`} /> <code class="dim">{code}</code>
        </li>
      ))}
      {notes.length > MOST ? <li class="dim">and {notes.length - MOST} more</li> : null}
    </ul>
  );
}

/** A problem or a notice about a result. */
export interface NoteView {
  readonly code: string;
  readonly message: string;
  /** Where in the result; absent if it is about the whole. */
  readonly path?: string;
}
