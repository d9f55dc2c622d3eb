import { align } from './collections.js';

interface FileDiff {
  readonly path: string;
  readonly patch?: string | undefined;
  /** Null for a new file. */
  readonly old_text?: string | null | undefined;
  readonly new_text?: string | undefined;
}

/** The changed lines of a file; `isPartial` if it has more than these. */
export type FileChange = Readonly<{ path: string; lines: readonly DiffLine[]; isPartial?: true }>;

const MAX_TEXT_LENGTH = 200_000;
const MAX_FILES = 50;

/** Reads a tool call's file changes: from its diff, from the content before and after, or from a patch. */
export function readFileChanges(input: unknown, diff: readonly FileDiff[] = []): readonly FileChange[] {
  if (diff.length > 0) return diff.slice(0, MAX_FILES).flatMap(readDiff);
  if (typeof input !== 'object' || input === null) return [];
  const fields = new Map<string, unknown>(Object.entries(input));
  const read = (...names: readonly string[]): string | undefined =>
    names.map((name) => fields.get(name)).find((value): value is string => typeof value === 'string');
  const path = read('file_path', 'path', 'absolute_path', 'filePath');
  const before = read('old_string', 'old_text', 'oldString');
  const after = read('new_string', 'new_text', 'newString');
  if (path !== undefined && before !== undefined && after !== undefined) return [compare(path, before, after)];
  const content = read('content');
  if (path !== undefined && content !== undefined) return [compare(path, '', content)];
  const patch = read('patch', 'input');
  return patch?.startsWith('*** Begin Patch') === true
    ? [describeFile('patch', patch.length, () => readPatch(patch))]
    : [];
}

function readDiff({ path, patch, old_text, new_text }: FileDiff): readonly FileChange[] {
  if (patch !== undefined) return [describeFile(path, patch.length, () => readPatch(patch))];
  return new_text === undefined ? [] : [compare(path, old_text ?? '', new_text)];
}

function compare(path: string, before: string, after: string): FileChange {
  return describeFile(path, before.length + after.length, () => diffLines(before, after));
}

/** Describes a file; a text that is too long is not compared. */
function describeFile(path: string, length: number, read: () => readonly DiffLine[]): FileChange {
  const lines = length > MAX_TEXT_LENGTH ? [] : read();
  const isPartial = length > MAX_TEXT_LENGTH || lines.length === MAX_LINES;
  return { path, lines, ...(isPartial ? { isPartial } : {}) };
}

export type DiffLine = Readonly<{ kind: 'same' | 'added' | 'removed'; text: string }>;

/** Above this many comparisons, all old lines are shown as removed and all new ones as added. */
const MAX_COMPARISONS = 400_000;
const CONTEXT = 3;
const MAX_LINES = 2000;

export function countChanges(lines: readonly DiffLine[]): { readonly added: number; readonly removed: number } {
  const count = (wanted: DiffLine['kind']): number => lines.filter(({ kind }) => kind === wanted).length;
  return { added: count('added'), removed: count('removed') };
}

/** Reads the command that a tool would run, if its input has one. */
export function readCommand(input: unknown): string | null {
  if (typeof input !== 'object' || input === null || !('command' in input)) return null;
  const { command } = input;
  if (typeof command === 'string') return command;
  return Array.isArray(command) ? command.map(String).join(' ') : null;
}

/** Compares two strings line by line. Unchanged lines at the start and the end are trimmed to the context lines. */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  const oldLines = splitLines(before);
  const newLines = splitLines(after);
  const toLines = (kind: DiffLine['kind'], texts: readonly string[]): DiffLine[] =>
    texts.map((text) => ({ kind, text }));
  const parts: DiffLine[][] = [];
  let [oldIndex, newIndex] = [0, 0];
  for (const [index, partner] of [...align(oldLines, newLines, MAX_COMPARISONS), oldLines.length].entries()) {
    if (partner < 0) continue;
    parts.push(toLines('removed', oldLines.slice(oldIndex, partner)));
    parts.push(toLines('added', newLines.slice(newIndex, index)), toLines('same', newLines.slice(index, index + 1)));
    [oldIndex, newIndex] = [partner + 1, index + 1];
  }
  const lines = parts.flat();
  const firstChange = lines.findIndex(({ kind }) => kind !== 'same');
  if (firstChange < 0) return lines.slice(-CONTEXT);
  const lastChange = lines.findLastIndex(({ kind }) => kind !== 'same');
  return lines.slice(Math.max(0, firstChange - CONTEXT), lastChange + 1 + CONTEXT).slice(0, MAX_LINES);
}

/** Parses the lines of a patch in unified or `*** Begin Patch` format. Patch syntax lines are returned unchanged. */
export function readPatch(patch: string): readonly DiffLine[] {
  return splitLines(patch)
    .slice(0, MAX_LINES)
    .map((line) => {
      if (/^(?:\+\+\+|---) /.test(line)) return { kind: 'same', text: line };
      if (line.startsWith('+')) return { kind: 'added', text: line.slice(1) };
      if (line.startsWith('-')) return { kind: 'removed', text: line.slice(1) };
      return { kind: 'same', text: line.startsWith(' ') ? line.slice(1) : line };
    });
}

function splitLines(text: string): readonly string[] {
  if (text === '') return [];
  return text.replace(/\r?\n$/, '').split(/\r?\n/);
}
