import { SafeText } from './safe-text.js';

/** The maximum number of visible notes. */
const MAX_NOTES = 50;

/** Problems and notices about a result: messages with their codes. */
export function Notes({ notes }: { readonly notes: readonly NoteView[] }) {
  return (
    <ul class="notes">
      {notes.slice(0, MAX_NOTES).map(({ code, message, path }, index) => (
        <li key={index}>
          <SafeText text={path === undefined ? message : `${path}: ${message}`} /> <code class="dim">{code}</code>
        </li>
      ))}
      {notes.length > MAX_NOTES ? <li class="dim">{notes.length - MAX_NOTES} more</li> : null}
    </ul>
  );
}

/** A problem or a notice about a result. */
export interface NoteView {
  readonly code: string;
  readonly message: string;
  /** The path in the result; absent if the note is about the whole result. */
  readonly path?: string;
}
