import type { FcmpData } from '../../protocol/fcmp-event.js';
import { toReasoningId, createTextTracker, toToolCallId, formatToolResult } from '../projection.js';
import { omitMissing } from '../../reading/record-fields.js';
import type { AgUiEvent } from './ag-ui-event.js';

export interface EventPosition {
  readonly attempt: number;
  readonly seq: number;
  readonly timestamp: number;
}

/** The sub-agent an event belongs to; empty for the agent itself. */
export type Attribution = { readonly subagentRunId?: string };

/** A message, a thought, a tool call or a sub-agent that was opened in a run and must be closed before the run ends. */
interface OpenPart {
  /** The agent or sub-agent that the part belongs to. */
  readonly by: Attribution;
  /** The id, if the part is a sub-agent. */
  readonly subagentRunId?: string;
  /** The tool name, if the part is a call. */
  readonly toolName?: string;
  close(timestamp: number): AgUiEvent[];
}

/** The open parts of an AG-UI run: each is opened once and closed once, at the end if not before. */
export class OpenParts {
  readonly #parts = new Map<string, OpenPart>();

  get(key: string): OpenPart | undefined {
    return this.#parts.get(key);
  }

  open(key: string, part: OpenPart): void {
    this.#parts.set(key, part);
  }

  /** Removes an open part; the caller must close it. */
  take(key: string): OpenPart | undefined {
    const part = this.#parts.get(key);
    this.#parts.delete(key);
    return part;
  }

  close(key: string, timestamp: number): AgUiEvent[] {
    return this.take(key)?.close(timestamp) ?? [];
  }

  /** Closes the parts of a sub-agent and of the sub-agents it started, last first. */
  closeSubagentParts(subagentRunId: string, timestamp: number): AgUiEvent[] {
    const members = new Set([subagentRunId]);
    const keys: string[] = [];
    for (const [key, { by, subagentRunId: started }] of this.#parts) {
      if (by.subagentRunId === undefined || !members.has(by.subagentRunId)) continue;
      if (started !== undefined) members.add(started);
      keys.push(key);
    }
    return keys.toReversed().flatMap((key) => this.close(key, timestamp));
  }

  closeAll(timestamp: number): AgUiEvent[] {
    return [...this.#parts.keys()].toReversed().flatMap((key) => this.close(key, timestamp));
  }
}

/** The messages and thoughts of one AG-UI run. */
export class TextParts {
  readonly #open: OpenParts;
  readonly #subagents: Subagents;
  readonly #textTracker = createTextTracker();

  constructor(open: OpenParts, subagents: Subagents) {
    this.#open = open;
    this.#subagents = subagents;
  }

  messageDelta(data: FcmpData<'assistant.message.delta'>, at: EventPosition): AgUiEvent[] {
    const out: AgUiEvent[] = [];
    if (data.text === '') return out;
    const by = this.#openMessage(data.message_id, data.parent_tool_call_id, at, out);
    const { timestamp } = at;
    out.push({ type: 'TEXT_MESSAGE_CONTENT', timestamp, messageId: data.message_id, delta: data.text, ...by });
    this.#textTracker.append(toMessageKey(data.message_id), data.text);
    return out;
  }

  messageFinal(data: FcmpData<'assistant.message.final'>, at: EventPosition): AgUiEvent[] {
    const out: AgUiEvent[] = [];
    const { timestamp } = at;
    const messageId = data.message_id;
    const key = toMessageKey(messageId);
    const by = this.#openMessage(messageId, data.parent_tool_call_id, at, out);
    const { rest, diverged } = this.#textTracker.finish(key, data.text);
    if (rest !== '') out.push({ type: 'TEXT_MESSAGE_CONTENT', timestamp, messageId, delta: rest, ...by });
    out.push(...this.#open.close(key, timestamp));
    if (diverged || data.structured_payload !== undefined) {
      out.push({ type: 'CUSTOM', timestamp, name: 'assistant.message.final', value: data, ...by });
    }
    return out;
  }

  reasoning(data: FcmpData<'assistant.reasoning'>, at: EventPosition): AgUiEvent[] {
    const out: AgUiEvent[] = [];
    const { timestamp } = at;
    const isChunk = data.partial === true;
    if (isChunk && data.text === '') return out;
    const messageId = toReasoningId(data, at);
    const key = toReasoningKey(messageId);
    const by = this.#openReasoning(messageId, data.parent_tool_call_id, at, out);
    if (isChunk) this.#textTracker.append(key, data.text);
    const delta = isChunk ? data.text : this.#textTracker.finish(key, data.text).rest;
    if (delta !== '') out.push({ type: 'REASONING_MESSAGE_CONTENT', timestamp, messageId, delta, ...by });
    if (!isChunk) out.push(...this.#open.close(key, timestamp));
    return out;
  }

  #openMessage(messageId: string, parentCall: string | undefined, at: EventPosition, out: AgUiEvent[]): Attribution {
    const part = this.#open.get(toMessageKey(messageId));
    if (part !== undefined) return part.by;
    const by = this.#subagents.attribute(parentCall, at, out);
    out.push({ type: 'TEXT_MESSAGE_START', timestamp: at.timestamp, messageId, role: 'assistant', ...by });
    this.#open.open(toMessageKey(messageId), {
      by,
      close: (timestamp) => [{ type: 'TEXT_MESSAGE_END', timestamp, messageId, ...by }],
    });
    return by;
  }

  #openReasoning(messageId: string, parentCall: string | undefined, at: EventPosition, out: AgUiEvent[]): Attribution {
    const part = this.#open.get(toReasoningKey(messageId));
    if (part !== undefined) return part.by;
    const by = this.#subagents.attribute(parentCall, at, out);
    const start = { timestamp: at.timestamp, messageId, ...by };
    out.push({ type: 'REASONING_START', ...start }, { type: 'REASONING_MESSAGE_START', role: 'reasoning', ...start });
    this.#open.open(toReasoningKey(messageId), {
      by,
      close: (timestamp) => [
        { type: 'REASONING_MESSAGE_END', timestamp, messageId, ...by },
        { type: 'REASONING_END', timestamp, messageId, ...by },
      ],
    });
    return by;
  }
}

function toMessageKey(messageId: string): string {
  return `text ${messageId}`;
}

function toReasoningKey(messageId: string): string {
  return `reasoning ${messageId}`;
}

/** The tool calls of one AG-UI run, with the sub-agents that some of them start. */
export class ToolCallParts {
  readonly #open: OpenParts;
  readonly #subagents: Subagents;
  /** Open calls whose arguments were not reported yet. */
  readonly #callsWithoutInput = new Set<string>();

  constructor(open: OpenParts, subagents: Subagents) {
    this.#open = open;
    this.#subagents = subagents;
  }

  toolCall(data: FcmpData<'assistant.tool_call'>, at: EventPosition): AgUiEvent[] {
    const out: AgUiEvent[] = [];
    const { timestamp } = at;
    const id = toToolCallId(data.tool_call_id, at.attempt);
    const by = this.#openCall(id, data, at, out);
    if (data.status === 'started') {
      if (data.input !== undefined) out.push(...this.#endInput(id, data.input, timestamp, by));
      return out;
    }
    out.push(...this.#endInput(id, data.input, timestamp, by));
    const error = data.status === 'failed' ? (data.error ?? 'The tool failed.') : undefined;
    // Not spread into `push`: a malicious sub-agent can leave more items open than a call can have arguments.
    const closingEvents = [...out, ...this.#subagents.endSubagent(id, error, timestamp)];
    // If a call claims to belong to the sub-agent that it started, it got its result when the sub-agent was closed.
    if (this.#open.take(`call ${id}`) === undefined) return closingEvents;
    const { started_at, ended_at, duration_ms } = data;
    const times = { started_at, ended_at, duration_ms };
    closingEvents.push(toResult(id, { content: formatToolResult(data), error, ...times }, timestamp, by));
    return closingEvents;
  }

  #openCall(id: string, data: FcmpData<'assistant.tool_call'>, at: EventPosition, out: AgUiEvent[]): Attribution {
    const part = this.#open.get(`call ${id}`);
    if (part !== undefined) return part.by;
    const by = this.#subagents.attribute(data.parent_tool_call_id, at, out);
    out.push({ type: 'TOOL_CALL_START', timestamp: at.timestamp, toolCallId: id, toolCallName: data.name, ...by });
    this.#callsWithoutInput.add(id);
    // Without a result, AG-UI expects the application to provide one.
    const error = 'The run ended before this tool did.';
    this.#open.open(`call ${id}`, {
      by,
      toolName: data.name,
      close: (timestamp) => [
        ...this.#endInput(id, undefined, timestamp, by),
        toResult(id, { content: error, error }, timestamp, by),
      ],
    });
    return by;
  }

  /** Reports the arguments of a call once, as soon as they are known, and ends the call; its result follows separately. */
  #endInput(id: string, input: unknown, timestamp: number, by: Attribution): AgUiEvent[] {
    if (!this.#callsWithoutInput.delete(id)) return [];
    const end: AgUiEvent = { type: 'TOOL_CALL_END', timestamp, toolCallId: id, ...by };
    if (input === undefined) return [end];
    return [{ type: 'TOOL_CALL_ARGS', timestamp, toolCallId: id, delta: JSON.stringify(input), ...by }, end];
  }
}

/** When a call started and ended, by the engine's own clock. */
type ToolTimes = {
  readonly [Key in 'started_at' | 'ended_at' | 'duration_ms']?: FcmpData<'assistant.tool_call'>[Key] | undefined;
};

function toResult(
  id: string,
  { content, ...rest }: { readonly content: string; readonly error: string | undefined } & ToolTimes,
  timestamp: number,
  by: Attribution,
): AgUiEvent {
  const metadata = omitMissing(rest);
  return {
    type: 'TOOL_CALL_RESULT',
    timestamp,
    messageId: `${id}_result`,
    toolCallId: id,
    content,
    role: 'tool',
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    ...by,
  };
}

/** The sub-agents of one AG-UI run. FCMP identifies them by the tool call that started them. */
export class Subagents {
  readonly #open: OpenParts;
  #count = 0;

  constructor(open: OpenParts) {
    this.#open = open;
  }

  /** Returns the sub-agent that a tool call started; opens it with its first output. */
  attribute(parentCall: string | undefined, at: EventPosition, out: AgUiEvent[]): Attribution {
    if (parentCall === undefined) return {};
    const parentToolCallId = toToolCallId(parentCall, at.attempt);
    const known = this.#open.get(toSubagentKey(parentToolCallId))?.subagentRunId;
    if (known !== undefined) return { subagentRunId: known };
    this.#count += 1;
    const subagentRunId = `subagent_${at.attempt}_${this.#count}`;
    const { by = {}, toolName = 'subagent' } = this.#open.get(`call ${parentToolCallId}`) ?? {};
    out.push({
      type: 'SUBAGENT_STARTED',
      timestamp: at.timestamp,
      subagentRunId,
      name: toolName,
      parentToolCallId,
      ...(by.subagentRunId === undefined ? {} : { parentSubagentRunId: by.subagentRunId }),
    });
    const message = 'The run ended before this sub-agent did.';
    this.#open.open(toSubagentKey(parentToolCallId), {
      by,
      subagentRunId,
      close: (timestamp) => [{ type: 'SUBAGENT_ERROR', timestamp, subagentRunId, message }],
    });
    return { subagentRunId };
  }

  /** Closes the sub-agent that a tool call started, if any, and the parts it left open; `error` is set if the call failed. */
  endSubagent(toolCallId: string, error: string | undefined, timestamp: number): AgUiEvent[] {
    const subagentRunId = this.#open.get(toSubagentKey(toolCallId))?.subagentRunId;
    if (subagentRunId === undefined) return [];
    const members = this.#open.closeSubagentParts(subagentRunId, timestamp);
    this.#open.take(toSubagentKey(toolCallId));
    const end: AgUiEvent =
      error === undefined
        ? { type: 'SUBAGENT_FINISHED', timestamp, subagentRunId }
        : { type: 'SUBAGENT_ERROR', timestamp, subagentRunId, message: error };
    return [...members, end];
  }
}

function toSubagentKey(toolCallId: string): string {
  return `subagent ${toolCallId}`;
}
