import { getField, getName, getObject, getString } from '../../reading/record-fields.js';
import type { Conversation } from './conversation.js';

/**
 * Reads a `stream_event`: a message while it is being streamed. The complete blocks follow as `assistant` records; tool
 * calls are reported from those, with complete input.
 */
export function readStreamEvent(record: object, conversation: Conversation): void {
  const { emit, dialect } = conversation;
  const event = getObject(record, 'event');
  const type = event === null ? null : getString(event, 'type');
  if (event === null || type === null)
    return emit({ fact: 'malformed', why: 'A stream_event has no event with a type.' });
  const shape = `stream_event(${type})`;
  if (!dialect.fields.has(shape)) return emit({ fact: 'unknown_type', type: `stream_event ${type}` });
  emit({ fact: 'record', record: event, shape });
  const parent = getName(record, 'parent_tool_use_id');
  const speaker = conversation.getSpeaker(parent);
  switch (type) {
    case 'message_start': {
      if (parent === null) conversation.continueTurn();
      const message = getObject(event, 'message') ?? {};
      speaker.startMessage(getName(message, 'id'));
      emit({ fact: 'record', record: message, used: USED_START_FIELDS, path: 'event.message' });
      return emit({ fact: 'status', status: type, model: getName(message, 'model') });
    }
    case 'content_block_start':
      speaker.endBlock();
      return readBlockStart(event, parent, conversation);
    case 'content_block_delta':
      return readDelta(event, parent, conversation);
    case 'message_delta':
      emit({ fact: 'record', record: event, used: DELTA_ONLY, path: 'event' });
      emit({ fact: 'record', record: getObject(event, 'delta') ?? {}, used: STOP_REASON, path: 'event.delta' });
      return emit({ fact: 'status', status: type, reason: getString(getObject(event, 'delta') ?? {}, 'stop_reason') });
    case 'message_stop':
      speaker.endBlock();
      return emit({ fact: 'status', status: type });
    case 'error': {
      const message = getString(getObject(event, 'error') ?? {}, 'message') ?? 'The model stream ended with an error.';
      return emit({ fact: 'error', message });
    }
    default:
      return emit({ fact: 'status', status: type, detail: dropType(event) });
  }
}

const USED_START_FIELDS: ReadonlySet<string> = new Set(['id', 'type', 'role', 'model', 'content']);
const DELTA_ONLY: ReadonlySet<string> = new Set(['type', 'delta']);
const STOP_REASON: ReadonlySet<string> = new Set(['stop_reason']);

function readBlockStart(event: object, parent: string | null, conversation: Conversation): void {
  const block = getObject(event, 'content_block') ?? {};
  const type = getString(block, 'type');
  // Most blocks start empty; if one does not, its first content has no separate delta.
  if (type === 'text') conversation.getSpeaker(parent).addDelta('text', getString(block, 'text') ?? '');
  if (type === 'thinking') conversation.getSpeaker(parent).addDelta('thinking', getString(block, 'thinking') ?? '');
  const call = getName(block, 'id');
  const detail = { type, ...(call === null ? undefined : { id: call, name: getField(block, 'name') }) };
  conversation.emit({ fact: 'status', status: 'content_block_start', detail });
}

function readDelta(event: object, parent: string | null, conversation: Conversation): void {
  const { emit, dialect } = conversation;
  const delta = getObject(event, 'delta') ?? {};
  const type = getString(delta, 'type');
  const shape = `delta(${type ?? ''})`;
  if (type === null || !dialect.fields.has(shape))
    return emit({ fact: 'unknown_type', type: `content_block_delta ${type ?? 'without a type'}` });
  emit({ fact: 'record', record: delta, shape });
  const text = getString(delta, type === 'thinking_delta' ? 'thinking' : 'text') ?? '';
  if (type === 'text_delta' && text !== '') return conversation.getSpeaker(parent).addDelta('text', text);
  if (type === 'thinking_delta' && text !== '') return conversation.getSpeaker(parent).addDelta('thinking', text);
  // Part of a call's input, a signature or a citation.
  emit({ fact: 'status', status: type, detail: dropType(delta) });
}

/** Returns the event without its type. */
function dropType(event: object): object {
  return Object.fromEntries(Object.entries(event).filter(([key]) => key !== 'type'));
}
