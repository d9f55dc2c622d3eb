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

/** Whether a value has named parts. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
