import { getField, getName, getObject, getString } from '../../reading/record-fields.js';
import type { Conversation } from './conversation.js';

/**
 * Reads a `stream_event`: a message while it is being streamed. The complete blocks follow as `assistant` records; tool
 * calls are reported from those, with complete input.
 */
export function readStreamEvent(record: object, conversation: Conversation): void {
  const { report, dialect } = conversation;
  const event = getObject(record, 'event');
  const type = event === null ? null : getString(event, 'type');
  if (event === null || type === null)
    return report.unparsed('MALFORMED_RECORD', 'A stream_event has no event with a type.');
  const knownFields = dialect.tables.events[type];
  if (knownFields === undefined) return report.unknownType(`stream_event ${type}`);
  report.checkFields(event, knownFields, `stream_event(${type})`);
  const parent = getName(record, 'parent_tool_use_id');
  const speaker = conversation.getSpeaker(parent);
  switch (type) {
    case 'message_start': {
      if (parent === null) conversation.continueTurn();
      const message = getObject(event, 'message') ?? {};
      speaker.startMessage(getName(message, 'id'));
      report.keepUnusedFields(message, USED_START_FIELDS, 'event.message');
      return report.status({ status: type, model: getName(message, 'model') });
    }
    case 'content_block_start':
      speaker.endBlock();
      return readBlockStart(event, parent, conversation);
    case 'content_block_delta':
      return readDelta(event, parent, conversation);
    case 'message_delta':
      report.keepUnusedFields(event, DELTA_ONLY, 'event');
      report.keepUnusedFields(getObject(event, 'delta') ?? {}, STOP_REASON, 'event.delta');
      return report.status({ status: type, reason: getString(getObject(event, 'delta') ?? {}, 'stop_reason') });
    case 'message_stop':
      speaker.endBlock();
      return report.status({ status: type });
    case 'error': {
      const message = getString(getObject(event, 'error') ?? {}, 'message') ?? 'The model stream ended with an error.';
      return report.engineError({ message });
    }
    default:
      return report.status({ status: type, detail: dropType(event) });
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
  conversation.report.status({ status: 'content_block_start', detail });
}

function readDelta(event: object, parent: string | null, conversation: Conversation): void {
  const { report, dialect } = conversation;
  const delta = getObject(event, 'delta') ?? {};
  const type = getString(delta, 'type');
  const knownFields = type === null ? undefined : dialect.tables.deltas[type];
  if (type === null || knownFields === undefined)
    return report.unknownType(`content_block_delta ${type ?? 'without a type'}`);
  report.checkFields(delta, knownFields, `content_block_delta(${type})`);
  const text = getString(delta, type === 'thinking_delta' ? 'thinking' : 'text') ?? '';
  if (type === 'text_delta' && text !== '') return conversation.getSpeaker(parent).addDelta('text', text);
  if (type === 'thinking_delta' && text !== '') return conversation.getSpeaker(parent).addDelta('thinking', text);
  // Part of a call's input, a signature or a citation.
  report.status({ status: type, detail: dropType(delta) });
}

/** Returns the event without its type. */
function dropType(event: object): object {
  return Object.fromEntries(Object.entries(event).filter(([key]) => key !== 'type'));
}
