import { shorten } from '../../attempt/engine-error.js';
import {
  arrayField,
  booleanField,
  field,
  isRecord,
  nameField,
  objectField,
  stringField,
} from '../../reading/record-fields.js';
import type { Conversation } from './conversation.js';
import { readUsage } from './read-result.js';

/** Reads an `assistant` record: one block of a message, or a whole message. */
export function readAssistant(record: object, conversation: Conversation): void {
  const { report, dialect } = conversation;
  const message = objectField(record, 'message');
  if (message === null) return report.unparsed('MALFORMED_RECORD', 'An assistant record has no message.');
  report.checkFields(message, dialect.tables.message, 'assistant.message');
  const parent = nameField(record, 'parent_tool_use_id');
  if (booleanField(record, 'isReplay') === true) return report.status({ status: 'assistant', reason: 'replay' });
  if (parent === null) conversation.goesOn();
  const id = nameField(message, 'id');
  for (const block of readBlocks(message)) readBlock(block, { parent, id, record }, conversation);
  readMessageStatus(message, conversation.speaker(parent).isFirst(id), conversation);
}

interface BlockContext {
  readonly parent: string | null;
  readonly id: string | null;
  readonly record: object;
}

function readBlock(block: object, { parent, id, record }: BlockContext, conversation: Conversation): void {
  const { report, dialect } = conversation;
  const type = stringField(block, 'type');
  const known = type === null ? undefined : dialect.tables.blocks[type];
  if (type === null || known === undefined) return report.unknownType(`assistant block ${type ?? 'without a type'}`);
  report.checkFields(block, known, `assistant.block(${type})`);
  switch (type) {
    case 'text':
      return readText(stringField(block, 'text') ?? '', { parent, id, record }, conversation);
    case 'thinking': {
      // Thoughts that are not shown are printed as an empty text with a signature.
      const thought = stringField(block, 'thinking') ?? '';
      if (thought !== '') conversation.speaker(parent).whole('thinking', thought, id);
      return;
    }
    case 'tool_use':
    case 'server_tool_use':
    case 'mcp_tool_use':
      return readCall(block, parent, conversation);
    default:
      if (type.endsWith('tool_result')) readCallEnd(block, parent, conversation);
    // What is left cannot be shown (`redacted_thinking`, `compaction`): the status of the record stands for it.
  }
}

function readText(text: string, { parent, id, record }: BlockContext, conversation: Conversation): void {
  const speaker = conversation.speaker(parent);
  const usage = objectField(objectField(record, 'message') ?? {}, 'usage');
  const error = conversation.dialect.spokenError(text, record, usage);
  if (error !== null) conversation.fails(error);
  if (text !== '' && (error === null || speaker.isSpeaking)) speaker.whole('text', text, id);
}

function readCall(block: object, parent: string | null, conversation: Conversation): void {
  const { report, dialect } = conversation;
  const id = nameField(block, 'id');
  if (id === null) return report.unparsed('MALFORMED_RECORD', 'A tool call has no id.');
  const name = nameField(block, 'name');
  const input = field(block, 'input');
  const pathField = name === null ? undefined : dialect.fileTools.get(name);
  const path = pathField === undefined || !isRecord(input) ? null : nameField(input, pathField);
  conversation.callStarts(id);
  report.toolStarted({ id, name, input, parent, paths: path === null ? [] : [path] });
}

/** Reads a `user` record: the ends of tool calls, or words that were put to the agent. */
export function readUser(record: object, conversation: Conversation): void {
  const { report, dialect } = conversation;
  const message = objectField(record, 'message');
  if (message === null) return report.unparsed('MALFORMED_RECORD', 'A user record has no message.');
  const parent = nameField(record, 'parent_tool_use_id');
  const isReplay = booleanField(record, 'isReplay') === true;
  let endedCall = false;
  for (const block of readBlocks(message)) {
    const type = stringField(block, 'type');
    const known = type === null ? undefined : dialect.tables.blocks[type];
    if (type === null || known === undefined) report.unknownType(`user block ${type ?? 'without a type'}`);
    else report.checkFields(block, known, `user.block(${type})`);
    if (type !== 'tool_result') continue;
    // A replay repeats hiscenario: only what ends a call of this attempt is news.
    if (isReplay && !conversation.isOpenCall(nameField(block, 'tool_use_id') ?? '')) continue;
    readCallEnd(block, parent, conversation);
    endedCall = true;
  }
  if (endedCall) return;
  // A prompt, an echo of it, or text a program put in: never the agent's words.
  const isSynthetic = booleanField(record, 'isSynthetic') === true;
  report.status({ status: 'user', reason: isReplay ? 'replay' : isSynthetic ? 'synthetic' : null });
}

function readCallEnd(block: object, parent: string | null, conversation: Conversation): void {
  const { report } = conversation;
  const id = nameField(block, 'tool_use_id');
  if (id === null) return report.unparsed('MALFORMED_RECORD', 'A tool result does not say of which call.');
  conversation.callEnds(id);
  const output = field(block, 'content');
  const error = findFailure(block, output);
  if (error === null) report.toolCompleted({ id, output, parent });
  else report.toolFailed({ id, output, parent, error });
}

/** Why a call failed; null if it did not. Tools of the model's provider say so inside of their content. */
function findFailure(block: object, output: unknown): string | null {
  if (booleanField(block, 'is_error') === true) return shorten(joinText(output)) || 'The tool reported an error.';
  if (!isRecord(output) || stringField(output, 'type')?.endsWith('_error') !== true) return null;
  return stringField(output, 'error_code') ?? 'The tool reported an error.';
}

function joinText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  const texts = content.filter(isRecord).map((block) => stringField(block, 'text'));
  return texts.filter((text) => text !== null).join('\n');
}

/** What a message consists of; a bare text counts as one block. */
function readBlocks(message: object): readonly object[] {
  const text = stringField(message, 'content');
  return text === null ? arrayField(message, 'content').filter(isRecord) : [{ type: 'text', text }];
}

/** Model and tokens, once a message: a message printed block by block repeats them with each. */
function readMessageStatus(message: object, isNew: boolean, { report, dialect }: Conversation): void {
  const usage = objectField(message, 'usage');
  if (usage !== null) report.checkFields(usage, dialect.tables.usage, 'usage');
  const { inputIncludesCache } = dialect;
  report.status({
    status: 'assistant',
    model: nameField(message, 'model'),
    reason: stringField(message, 'stop_reason'),
    usage: isNew ? readUsage(usage, { scope: 'turn', inputIncludesCache }) : null,
  });
}
