import type { FileDiff } from '../../protocol/event-parts.js';
import {
  getArray,
  getField,
  getInteger,
  isRecord,
  getName,
  getObject,
  getString,
  omitMissing,
} from '../../reading/record-fields.js';
import type { ToolCall } from '../fact.js';

/** Reads the details of a call from a `tool_call`, a `tool_call_update` or a permission request. */
export function readCall(id: string, call: object): ToolCall {
  const diff = readDiff(call);
  return {
    id,
    ...omitMissing({ name: readName(id, call), input: readInput(call), diff: diff.length === 0 ? null : diff }),
    paths: getArray(call, 'locations')
      .filter(isRecord)
      .flatMap((location) => getName(location, 'path') ?? []),
  };
}

/**
 * Reads the name of the tool. The protocol has no field for it: some agents add a `name`, some put it into `_meta`. For
 * others, the tool's kind is used, or the title if the kind is unspecific.
 */
function readName(id: string, call: object): string | null {
  const meta = getObject(call, '_meta');
  const claudeMeta = getObject(meta, 'claudeCode');
  const toolName = getName(call, 'name') ?? getName(meta, 'toolName') ?? getName(claudeMeta, 'toolName');
  if (toolName !== null) return toolName;
  const [, nameInId] = GEMINI_ID.exec(id) ?? [];
  if (nameInId !== undefined) return nameInId;
  const kind = getName(call, 'kind');
  return kind === null || kind === 'other' ? getName(call, 'title') : kind;
}

/** Gemini CLI puts the name into the id: `write_file__write_file_1794765461129_0`. */
const GEMINI_ID = /^(\w{1,64}?)__\1_\d+_\d+$/u;

/** Reads the input. An empty input is ignored: agents use it to announce a call and send the actual input later. */
function readInput(call: object): unknown {
  const input = getField(call, 'rawInput');
  if (input === null || input === undefined) return undefined;
  return isRecord(input) && Object.keys(input).length === 0 ? undefined : input;
}

/** Reads a call's changes: its diff blocks or, in OpenCode's permission requests, a patch in its input. */
function readDiff(call: object): readonly FileDiff[] {
  const diffs = getArray(call, 'content').flatMap((block): FileDiff[] => {
    if (!isRecord(block) || getField(block, 'type') !== 'diff') return [];
    const path = getName(block, 'path');
    const newText = getString(block, 'newText');
    if (path === null || newText === null) return [];
    return [{ path, old_text: getString(block, 'oldText'), new_text: newText }];
  });
  if (diffs.length > 0) return diffs;
  const input = getObject(call, 'rawInput');
  const patch = getString(input, 'diff');
  const path = getName(input, 'filepath') ?? getName(input, 'filePath');
  return patch === null || path === null ? [] : [{ path, patch }];
}

/**
 * Reads a call's output: the agent's raw output, or the text of its content. Non-text blocks are returned unchanged.
 */
export function readOutput(call: object): unknown {
  const output = getField(call, 'rawOutput');
  if (output !== null && output !== undefined) return output;
  const blocks = getArray(call, 'content').filter(isRecord);
  const contents = blocks.flatMap((block) =>
    getField(block, 'type') === 'content' ? [getObject(block, 'content')] : [],
  );
  const strings = contents.map((content) => getString(content, 'text'));
  if (contents.length === 0) return undefined;
  return strings.every((text) => text !== null) ? strings.join('') : contents;
}

/** Reads the exit code of a command, if the agent reports it: Codex in `_meta`, OpenCode in its output. */
export function readExitCode(call: object): number | null {
  const exit = getObject(getObject(call, '_meta'), 'terminal_exit');
  if (exit !== null) return getInteger(exit, 'exit_code');
  const output = getObject(call, 'rawOutput');
  return getInteger(output, 'exit_code') ?? getInteger(getObject(output, 'metadata'), 'exit');
}

export function readFailure(call: object): string {
  const output = readOutput(call);
  if (typeof output === 'string' && output !== '') return output;
  const error = isRecord(output) ? (getName(output, 'error') ?? getName(output, 'message')) : null;
  return error ?? 'The tool call failed.';
}
