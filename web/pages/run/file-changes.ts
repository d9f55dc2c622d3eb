import { diffLines, readPatch } from '../../ui/line-diff.js';
import type { DiffLine } from '../../ui/line-diff.js';
import type { FcmpData } from '../../../src/events/index.js';

/** A file change in an event. */
export type FileDiff = NonNullable<FcmpData<'assistant.tool_call'>['diff']>[number];

/** A tool call's change to one file. */
export interface FileChange {
  readonly path: string;
  readonly lines: readonly DiffLine[];
}

/** Longer strings are not compared. */
const MAX_TEXT_LENGTH = 200_000;
const MAX_FILES = 50;

/**
 * Reads a tool call's file changes: from its diff, from an input with the content before and after (Claude, Gemini,
 * Qwen), or from a patch (Codex). Empty if the call has none of these.
 */
export function readFileChanges(input: unknown, diff: readonly FileDiff[] = []): readonly FileChange[] {
  if (diff.length > 0) return diff.slice(0, MAX_FILES).flatMap(readDiff);
  if (typeof input !== 'object' || input === null) return [];
  const fields = new Map<string, unknown>(Object.entries(input));
  const read = (...names: readonly string[]): string | undefined =>
    names.map((name) => fields.get(name)).find((value): value is string => typeof value === 'string');
  const path = read('file_path', 'path', 'absolute_path', 'filePath');
  const before = read('old_string', 'old_text', 'oldString');
  const after = read('new_string', 'new_text', 'newString');
  if (path !== undefined && before !== undefined && after !== undefined) return compare(path, before, after);
  const content = read('content');
  if (path !== undefined && content !== undefined) return compare(path, '', content);
  const patch = read('patch', 'input');
  if (patch?.startsWith('*** Begin Patch') === true && patch.length <= MAX_TEXT_LENGTH) {
    return [{ path: 'patch', lines: readPatch(patch) }];
  }
  return [];
}

function readDiff({ path, patch, old_text, new_text }: FileDiff): readonly FileChange[] {
  if (patch !== undefined && patch.length <= MAX_TEXT_LENGTH) return [{ path, lines: readPatch(patch) }];
  return new_text === undefined ? [] : compare(path, old_text ?? '', new_text);
}

function compare(path: string, before: string, after: string): readonly FileChange[] {
  return before.length + after.length > MAX_TEXT_LENGTH ? [] : [{ path, lines: diffLines(before, after) }];
}
