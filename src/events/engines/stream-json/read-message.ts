import { boundMessage } from '../../attempt/engine-error.js';
import { get, isRecord, joinTextContent, toNames } from '../../reading/record-fields.js';
import type { FileDiff, Usage } from '../../protocol/event-parts.js';
import { readPlan } from '../../reading/read-plan.js';
import type { Conversation } from './conversation.js';
import { readUsage } from './read-result.js';

export function readAssistant(record: object, conversation: Conversation): void {
  const { emit } = conversation;
  const message = get.object(record, 'message');
  if (message === null) return emit({ fact: 'malformed', why: 'An assistant record has no message.' });
  const parent = get.name(record, 'parent_tool_use_id');
  if (get.boolean(record, 'isReplay') === true) return emit({ fact: 'status', status: 'assistant', reason: 'replay' });
  if (parent === null) conversation.continueTurn();
  const id = get.name(message, 'id');
  const isNew = conversation.getSpeaker(parent).setMessage(id);
  const usage = readMessageUsage(message, isNew, conversation);
  emit({ fact: 'record', record: message, shape: 'assistant.message', used: USED_MESSAGE_FIELDS, path: 'message' });
  emit({ fact: 'step', model: get.name(message, 'model'), usage });
  for (const block of readBlocks(message)) readBlock(block, { parent, id, record }, conversation);
  emit({
    fact: 'status',
    status: 'assistant',
    model: get.name(message, 'model'),
    reason: get.string(message, 'stop_reason'),
    usage,
  });
}

interface BlockContext {
  readonly parent: string | null;
  readonly id: string | null;
  readonly record: object;
}

function readBlock(block: object, { parent, id, record }: BlockContext, conversation: Conversation): void {
  const { emit, dialect } = conversation;
  const type = get.string(block, 'type');
  const shape = `block(${type ?? ''})`;
  if (type === null || !dialect.fields.has(shape))
    return emit({ fact: 'unknown_type', type: `assistant block ${type ?? 'without a type'}` });
  emit({ fact: 'record', record: block, shape, used: USED_BLOCK_FIELDS, path: `message.content(${type})` });
  switch (type) {
    case 'text':
      return readText(get.string(block, 'text') ?? '', { parent, id, record }, conversation);
    case 'thinking': {
      // Hidden thoughts are printed as an empty string with a signature.
      const thought = get.string(block, 'thinking') ?? '';
      if (thought !== '') conversation.getSpeaker(parent).addBlock('thinking', thought, id);
      return;
    }
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use':
      return readCall(block, parent, conversation);
    default:
      if (type.endsWith('tool_result')) readCallEnd(block, parent, conversation);
    // Other blocks (`redacted_thinking`, `compaction`) have no separate event, only the status of their record.
  }
}

function readText(text: string, { parent, id, record }: BlockContext, conversation: Conversation): void {
  const speaker = conversation.getSpeaker(parent);
  const usage = get.object(get.object(record, 'message'), 'usage');
  const error = conversation.dialect.readErrorText(text, record, usage);
  if (error !== null) conversation.reportFailure(error);
  if (text !== '' && (error === null || speaker.hasOpenText)) speaker.addBlock('text', text, id);
}

function readCall(block: object, parent: string | null, conversation: Conversation): void {
  const { emit, dialect } = conversation;
  const id = get.name(block, 'id');
  if (id === null) return emit({ fact: 'malformed', why: 'A tool call has no id.' });
  const name = get.name(block, 'name');
  const input = get.field(block, 'input');
  const pathField = name === null ? undefined : dialect.fileTools.get(name);
  const path = pathField === undefined || !isRecord(input) ? null : get.name(input, pathField);
  conversation.openCalls.add(id);
  emit({ fact: 'tool_started', id, name, input, parent, paths: path === null ? [] : [path] });
  if (name !== null && PLAN_TOOLS.has(name) && isRecord(input))
    emit({ fact: 'plan', entries: readPlan(get.array(input, 'todos')), call: id, parent });
}

/** Reads a `user` record: the ends of tool calls, or text that was sent to the agent. */
export function readUser(record: object, conversation: Conversation): void {
  const { emit, dialect } = conversation;
  const message = get.object(record, 'message');
  if (message === null) return emit({ fact: 'malformed', why: 'A user record has no message.' });
  const parent = get.name(record, 'parent_tool_use_id');
  const isReplay = get.boolean(record, 'isReplay') === true;
  let endedCall = false;
  for (const block of readBlocks(message)) {
    const type = get.string(block, 'type');
    const shape = `block(${type ?? ''})`;
    if (!dialect.fields.has(shape)) emit({ fact: 'unknown_type', type: `user block ${type ?? 'without a type'}` });
    const path = `message.content(${type ?? 'unknown'})`;
    emit({ fact: 'record', record: block, shape, used: USED_BLOCK_FIELDS, path });
    if (type !== 'tool_result') continue;
    // A replay repeats history: only the end of a call of this attempt is new.
    if (isReplay && !conversation.openCalls.has(get.name(block, 'tool_use_id') ?? '')) continue;
    readCallEnd(block, parent, conversation, readDiff(get.field(record, 'tool_use_result')));
    endedCall = true;
  }
  if (endedCall) return;
  // A prompt, its echo, or inserted text: never the agent's own message.
  const isSynthetic = get.boolean(record, 'isSynthetic') === true;
  const text = joinText(get.field(message, 'content'));
  emit({
    fact: 'status',
    status: 'user',
    parent,
    // A replay repeats history.
    ...(text === '' || isReplay ? undefined : { message: text }),
    reason: isReplay ? 'replay' : isSynthetic ? 'synthetic' : null,
    detail: {
      content: get.field(message, 'content'),
      ...(parent === null ? undefined : { parent_tool_use_id: parent }),
    },
  });
}

function readCallEnd(
  block: object,
  parent: string | null,
  conversation: Conversation,
  diff: readonly FileDiff[] = [],
): void {
  const { emit } = conversation;
  const id = get.name(block, 'tool_use_id');
  if (id === null) return emit({ fact: 'malformed', why: 'A tool result does not name its call.' });
  conversation.endCall(id);
  const output = get.field(block, 'content');
  const error = findFailure(block, output);
  const diffFields = diff.length === 0 ? undefined : { diff };
  if (error === null) emit({ fact: 'tool_completed', id, output, parent, ...diffFields });
  else emit({ fact: 'tool_failed', id, output, parent, error });
}

/** Reads the diff of an edit: Claude Code prints it next to the tool result. */
function readDiff(result: unknown): readonly FileDiff[] {
  if (!isRecord(result)) return [];
  const path = get.name(result, 'filePath');
  const oldText = get.string(result, 'oldString') ?? get.string(result, 'originalFile');
  const newText = get.string(result, 'newString') ?? get.string(result, 'content');
  if (path === null || newText === null || (oldText?.length ?? 0) + newText.length > MAX_DIFF) return [];
  const patch = formatPatch(get.records(result, 'structuredPatch'));
  return [{ path, ...(patch === '' ? undefined : { patch }), old_text: oldText, new_text: newText }];
}

/** Formats the hunks of a patch as unified diff, without the file header. */
function formatPatch(hunks: readonly object[]): string {
  return hunks
    .map((hunk) => {
      const [oldStart, oldLines, newStart, newLines] = HUNK.map((key) => get.field(hunk, key));
      const lines = get.array(hunk, 'lines').filter((line) => typeof line === 'string');
      return [`@@ -${String(oldStart)},${String(oldLines)} +${String(newStart)},${String(newLines)} @@`, ...lines].join(
        '\n',
      );
    })
    .join('\n');
}

const HUNK = ['oldStart', 'oldLines', 'newStart', 'newLines'];

/** Longer content is omitted; it can be read from the file itself. */
const MAX_DIFF = 64 * 1024;

const PLAN_TOOLS: ReadonlySet<string> = new Set(['TodoWrite', 'todo_write']);

const USED_MESSAGE_FIELDS = toNames('id type role model content stop_reason usage');

/** Includes a thought's signature, which is only useful to the model provider. */
const USED_BLOCK_FIELDS = toNames('type text thinking signature id name input tool_use_id content is_error');

/** Returns why a call failed, or null if it did not. The model provider's own tools report it inside their content. */
function findFailure(block: object, output: unknown): string | null {
  if (get.boolean(block, 'is_error') === true) return boundMessage(joinText(output)) || 'The tool reported an error.';
  if (!isRecord(output) || get.string(output, 'type')?.endsWith('_error') !== true) return null;
  return get.string(output, 'error_code') ?? 'The tool reported an error.';
}

export function joinText(content: unknown): string {
  if (typeof content === 'string') return content;
  return Array.isArray(content) ? joinTextContent(content) : '';
}

/** Reads the blocks of a message; a bare string counts as one block. */
function readBlocks(message: object): readonly object[] {
  const text = get.string(message, 'content');
  return text === null ? get.records(message, 'content') : [{ type: 'text', text }];
}

/** Reads a message's token counts only once: a message printed block by block repeats them with each block. */
function readMessageUsage(message: object, isNew: boolean, { emit, dialect }: Conversation): Usage | null {
  const usage = get.object(message, 'usage');
  if (usage !== null) emit({ fact: 'record', record: usage, shape: 'message.usage' });
  if (usage === null || !isNew) return null;
  emit({ fact: 'record', record: usage, used: USED_USAGE_FIELDS, path: 'message.usage' });
  return readUsage(usage, { scope: 'turn', inputIncludesCache: dialect.inputIncludesCache });
}

const USED_USAGE_FIELDS = toNames(
  'input_tokens output_tokens cache_read_input_tokens cache_creation_input_tokens total_tokens',
);
