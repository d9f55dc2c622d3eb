import { isRecord, textOf } from './read-unknown.js';

/** Something that was noticed about a result. */
export interface NoteView {
  readonly code: string;
  readonly message: string;
  /** Where in the result; empty if it is about the whole. */
  readonly path: string;
}

/** Reads a list of problems or notices. What is none of them is left out, not trusted. */
export function readNotes(value: unknown): readonly NoteView[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isRecord).map(({ code, message, path }) => ({
    code: textOf(code),
    message: textOf(message),
    path: textOf(path),
  }));
}
