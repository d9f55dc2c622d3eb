import type { FileDiff } from '../../protocol/event-parts.js';
import { get, isRecord } from '../../reading/record-fields.js';
import type { ToolCall } from '../fact.js';

/** Reads the details of a call from a `tool_call`, a `tool_call_update` or a permission request. */
export function readCall(id: string, call: object): ToolCall {
  const diff = readDiff(call);
  const locations = get.field(call, 'locations');
  return {
    id,
    name: readName(id, call),
    input: readInput(call),
    diff: diff.length === 0 ? undefined : diff,
    paths:
      locations === undefined
        ? undefined
        : get.records(call, 'locations').flatMap((one) => get.name(one, 'path') ?? []),
  };
}

/**
 * Reads the name of the tool. The protocol has no field for it: some agents add a `name`, some put it into `_meta`. For
 * others, the tool's kind is used, or the title if the kind is unspecific.
 */
function readName(id: string, call: object): string | null {
  const meta = get.object(call, '_meta');
  const claudeMeta = get.object(meta, 'claudeCode');
  const toolName = get.name(call, 'name') ?? get.name(meta, 'toolName') ?? get.name(claudeMeta, 'toolName');
  if (toolName !== null) return toolName;
  const [, nameInId] = id.includes('__') ? (GEMINI_ID.exec(id) ?? []) : [];
  if (nameInId !== undefined) return nameInId;
  const kind = get.name(call, 'kind');
  return kind === null || kind === 'other' ? get.name(call, 'title') : kind;
}

/** Gemini CLI puts the name into the id: `write_file__write_file_1794765461129_0`. */
const GEMINI_ID = /^(\w{1,64}?)__\1_\d+_\d+$/u;

/** Reads the input. An empty input is ignored: agents use it to announce a call and send the actual input later. */
function readInput(call: object): unknown {
  const input = get.field(call, 'rawInput');
  if (input === null || input === undefined) return undefined;
  return isRecord(input) && Object.keys(input).length === 0 ? undefined : input;
}

/** Reads a call's changes: its diff blocks or, in OpenCode's permission requests, a patch in its input. */
function readDiff(call: object): readonly FileDiff[] {
  const diffs: FileDiff[] = [];
  for (const block of get.array(call, 'content')) {
    if (!isRecord(block) || get.field(block, 'type') !== 'diff') continue;
    const path = get.name(block, 'path');
    const newText = get.string(block, 'newText');
    if (path !== null && newText !== null)
      diffs.push({ path, old_text: get.string(block, 'oldText'), new_text: newText });
  }
  const input = get.object(call, 'rawInput');
  if (diffs.length > 0 || input === null) return diffs;
  const patch = get.string(input, 'diff');
  const path = get.name(input, 'filepath') ?? get.name(input, 'filePath');
  return patch === null || path === null ? [] : [{ path, patch }];
}

/** Reads a call's output: the agent's raw output, or its content, as text if all of it is text. */
export function readOutput(call: object): unknown {
  const output = get.field(call, 'rawOutput');
  if (output !== null && output !== undefined) return output;
  const contents: (object | null)[] = [];
  let text: string | null = '';
  for (const block of get.array(call, 'content')) {
    if (!isRecord(block) || get.field(block, 'type') !== 'content') continue;
    const content = get.object(block, 'content');
    const part = get.string(content, 'text');
    contents.push(content);
    text = text === null || part === null ? null : text + part;
  }
  return contents.length === 0 ? undefined : (text ?? contents);
}

/** Reads the exit code of a command, if the agent reports it: Codex in `_meta`, OpenCode in its output. */
export function readExitCode(call: object): number | null {
  const exit = get.object(get.object(call, '_meta'), 'terminal_exit');
  if (exit !== null) return get.integer(exit, 'exit_code');
  const output = get.object(call, 'rawOutput');
  return get.integer(output, 'exit_code') ?? get.integer(get.object(output, 'metadata'), 'exit');
}

export function readFailure(call: object): string {
  const output = readOutput(call);
  if (typeof output === 'string' && output !== '') return output;
  const error = isRecord(output) ? (get.name(output, 'error') ?? get.name(output, 'message')) : null;
  return error ?? 'The tool call failed.';
}
