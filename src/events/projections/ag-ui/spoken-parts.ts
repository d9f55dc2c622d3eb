import type { FcmpData } from '../../protocol/fcmp-event.js';
import { reasoningIdOf } from '../part-ids.js';
import { createStreamedTexts } from '../streamed-text.js';
import type { AgUiEvent } from './ag-ui-event.js';
import type { Attribution, Moment, OpenParts } from './open-parts.js';
import type { Subagents } from './subagents.js';

/** The messages and thoughts of one AG-UI run. */
export class SpokenParts {
  readonly #open: OpenParts;
  readonly #subagents: Subagents;
  readonly #texts = createStreamedTexts();

  constructor(open: OpenParts, subagents: Subagents) {
    this.#open = open;
    this.#subagents = subagents;
  }

  messageDelta(data: FcmpData<'assistant.message.delta'>, at: Moment): AgUiEvent[] {
    const out: AgUiEvent[] = [];
    if (data.text === '') return out;
    const by = this.#openMessage(data.message_id, data.parent_tool_call_id, at, out);
    const { timestamp } = at;
    out.push({ type: 'TEXT_MESSAGE_CONTENT', timestamp, messageId: data.message_id, delta: data.text, ...by });
    this.#texts.append(messageKey(data.message_id), data.text);
    return out;
  }

  messageFinal(data: FcmpData<'assistant.message.final'>, at: Moment): AgUiEvent[] {
    const out: AgUiEvent[] = [];
    const { timestamp } = at;
    const messageId = data.message_id;
    const key = messageKey(messageId);
    const by = this.#openMessage(messageId, data.parent_tool_call_id, at, out);
    const { rest, diverged } = this.#texts.finish(key, data.text);
    if (rest !== '') out.push({ type: 'TEXT_MESSAGE_CONTENT', timestamp, messageId, delta: rest, ...by });
    out.push(...this.#open.close(key, timestamp));
    if (diverged || data.structured_payload !== undefined) {
      out.push({ type: 'CUSTOM', timestamp, name: 'assistant.message.final', value: data, ...by });
    }
    return out;
  }

  reasoning(data: FcmpData<'assistant.reasoning'>, at: Moment): AgUiEvent[] {
    const out: AgUiEvent[] = [];
    const { timestamp } = at;
    const isPiece = data.partial === true;
    if (isPiece && data.text === '') return out;
    const messageId = reasoningIdOf(data, at);
    const key = reasoningKey(messageId);
    const by = this.#openReasoning(messageId, data.parent_tool_call_id, at, out);
    if (isPiece) this.#texts.append(key, data.text);
    const delta = isPiece ? data.text : this.#texts.finish(key, data.text).rest;
    if (delta !== '') out.push({ type: 'REASONING_MESSAGE_CONTENT', timestamp, messageId, delta, ...by });
    if (!isPiece) out.push(...this.#open.close(key, timestamp));
    return out;
  }

  #openMessage(messageId: string, parentCall: string | undefined, at: Moment, out: AgUiEvent[]): Attribution {
    const part = this.#open.get(messageKey(messageId));
    if (part !== undefined) return part.by;
    const by = this.#subagents.attribute(parentCall, at, out);
    out.push({ type: 'TEXT_MESSAGE_START', timestamp: at.timestamp, messageId, role: 'assistant', ...by });
    this.#open.open(messageKey(messageId), {
      by,
      close: (timestamp) => [{ type: 'TEXT_MESSAGE_END', timestamp, messageId, ...by }],
    });
    return by;
  }

  #openReasoning(messageId: string, parentCall: string | undefined, at: Moment, out: AgUiEvent[]): Attribution {
    const part = this.#open.get(reasoningKey(messageId));
    if (part !== undefined) return part.by;
    const by = this.#subagents.attribute(parentCall, at, out);
    const start = { timestamp: at.timestamp, messageId, ...by };
    out.push({ type: 'REASONING_START', ...start }, { type: 'REASONING_MESSAGE_START', role: 'reasoning', ...start });
    this.#open.open(reasoningKey(messageId), {
      by,
      close: (timestamp) => [
        { type: 'REASONING_MESSAGE_END', timestamp, messageId, ...by },
        { type: 'REASONING_END', timestamp, messageId, ...by },
      ],
    });
    return by;
  }
}

function messageKey(messageId: string): string {
  return `text ${messageId}`;
}

function reasoningKey(messageId: string): string {
  return `reasoning ${messageId}`;
}
