import type { FcmpData } from '../../protocol/fcmp-event.js';
import { toReasoningId, TextTracker, toToolCallId, formatToolResult } from '../projection.js';
import { omitMissing } from '../../reading/record-fields.js';
import type { AgUiEvent } from './ag-ui-event.js';

interface EventPosition {
  readonly attempt: number;
  readonly seq: number;
  readonly timestamp: number;
}

/** The sub-agent an event belongs to; empty for the agent itself. */
type Attribution = { readonly subagentRunId?: string };

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

/** The events that open and close a part. */
interface PartEvents extends Pick<OpenPart, 'toolName'> {
  readonly start: (by: Attribution) => AgUiEvent[];
  readonly end: (timestamp: number, by: Attribution) => AgUiEvent[];
}

/** The open parts of an AG-UI run by key: each is opened once and closed once, at the end if not before. */
export class OpenParts extends Map<string, OpenPart> {
  #subagentCount = 0;

  /** Opens a part unless it is open, and its sub-agent with its first output. FCMP names a sub-agent by its tool call. */
  open(
    key: string,
    parentCall: string | undefined,
    at: EventPosition,
    out: AgUiEvent[],
    { start, end, ...part }: PartEvents,
  ): Attribution {
    const known = this.get(key);
    if (known !== undefined) return known.by;
    const by = parentCall === undefined ? {} : this.#openSubagent(toToolCallId(parentCall, at.attempt), at, out);
    out.push(...start(by));
    this.set(key, { by, ...part, close: (timestamp) => end(timestamp, by) });
    return by;
  }

  /** Removes an open part; the caller must close it. */
  take(key: string): OpenPart | undefined {
    const part = this.get(key);
    this.delete(key);
    return part;
  }

  close(key: string, timestamp: number): AgUiEvent[] {
    return this.take(key)?.close(timestamp) ?? [];
  }

  closeAll(timestamp: number): AgUiEvent[] {
    return [...this.keys()].toReversed().flatMap((key) => this.close(key, timestamp));
  }

  /** Closes the sub-agent that a tool call started, if any, and the parts it left open; `error` is set if the call failed. */
  closeSubagent(toolCallId: string, error: string | undefined, timestamp: number): AgUiEvent[] {
    const subagentRunId = this.get(toSubagentKey(toolCallId))?.subagentRunId;
    if (subagentRunId === undefined) return [];
    const members = this.#closeMembers(subagentRunId, timestamp);
    this.delete(toSubagentKey(toolCallId));
    const end: AgUiEvent =
      error === undefined
        ? { type: 'SUBAGENT_FINISHED', timestamp, subagentRunId }
        : { type: 'SUBAGENT_ERROR', timestamp, subagentRunId, message: error };
    return [...members, end];
  }

  /** Closes the parts of a sub-agent and of the sub-agents it started, last first. */
  #closeMembers(subagentRunId: string, timestamp: number): AgUiEvent[] {
    const members = new Set([subagentRunId]);
    const keys: string[] = [];
    for (const [key, { by, subagentRunId: started }] of this) {
      if (by.subagentRunId === undefined || !members.has(by.subagentRunId)) continue;
      if (started !== undefined) members.add(started);
      keys.push(key);
    }
    return keys.toReversed().flatMap((key) => this.close(key, timestamp));
  }

  #openSubagent(parentToolCallId: string, at: EventPosition, out: AgUiEvent[]): Attribution {
    const known = this.get(toSubagentKey(parentToolCallId))?.subagentRunId;
    if (known !== undefined) return { subagentRunId: known };
    this.#subagentCount += 1;
    const subagentRunId = `subagent_${at.attempt}_${this.#subagentCount}`;
    const { by = {}, toolName = 'subagent' } = this.get(`call ${parentToolCallId}`) ?? {};
    out.push({
      type: 'SUBAGENT_STARTED',
      timestamp: at.timestamp,
      subagentRunId,
      name: toolName,
      parentToolCallId,
      ...(by.subagentRunId === undefined ? {} : { parentSubagentRunId: by.subagentRunId }),
    });
    const message = 'The run ended before this sub-agent did.';
    this.set(toSubagentKey(parentToolCallId), {
      by,
      subagentRunId,
      close: (timestamp) => [{ type: 'SUBAGENT_ERROR', timestamp, subagentRunId, message }],
    });
    return { subagentRunId };
  }
}

function toSubagentKey(toolCallId: string): string {
  return `subagent ${toolCallId}`;
}

/** The messages and thoughts of one AG-UI run. */
export class TextParts {
  readonly #open: OpenParts;
  readonly #textTracker = new TextTracker();

  constructor(open: OpenParts) {
    this.#open = open;
  }

  messageDelta(data: FcmpData<'assistant.message.delta'>, at: EventPosition): AgUiEvent[] {
    const out: AgUiEvent[] = [];
    if (data.text === '') return out;
    const { timestamp } = at;
    const { key, by } = this.#openMessage(data, at, out);
    out.push({ type: 'TEXT_MESSAGE_CONTENT', timestamp, messageId: data.message_id, delta: data.text, ...by });
    this.#textTracker.append(key, data.text);
    return out;
  }

  messageFinal(data: FcmpData<'assistant.message.final'>, at: EventPosition): AgUiEvent[] {
    const out: AgUiEvent[] = [];
    const { timestamp } = at;
    const { key, by } = this.#openMessage(data, at, out);
    const { rest, diverged } = this.#textTracker.finish(key, data.text);
    if (rest !== '')
      out.push({ type: 'TEXT_MESSAGE_CONTENT', timestamp, messageId: data.message_id, delta: rest, ...by });
    out.push(...this.#open.close(key, timestamp));
    if (diverged || data.structured_payload !== undefined) {
      out.push({ type: 'CUSTOM', timestamp, name: 'assistant.message.final', value: data, ...by });
    }
    return out;
  }

  reasoning(data: FcmpData<'assistant.reasoning'>, at: EventPosition): AgUiEvent[] {
    const out: AgUiEvent[] = [];
    const isChunk = data.partial === true;
    if (isChunk && data.text === '') return out;
    const messageId = toReasoningId(data, at);
    const key = `reasoning ${messageId}`;
    const by = this.#open.open(key, data.parent_tool_call_id, at, out, {
      start: (owner) => {
        const start = { timestamp: at.timestamp, messageId, ...owner };
        return [
          { type: 'REASONING_START', ...start },
          { type: 'REASONING_MESSAGE_START', role: 'reasoning', ...start },
        ];
      },
      end: (timestamp, owner) => [
        { type: 'REASONING_MESSAGE_END', timestamp, messageId, ...owner },
        { type: 'REASONING_END', timestamp, messageId, ...owner },
      ],
    });
    if (isChunk) this.#textTracker.append(key, data.text);
    const delta = isChunk ? data.text : this.#textTracker.finish(key, data.text).rest;
    const { timestamp } = at;
    if (delta !== '') out.push({ type: 'REASONING_MESSAGE_CONTENT', timestamp, messageId, delta, ...by });
    if (!isChunk) out.push(...this.#open.close(key, timestamp));
    return out;
  }

  #openMessage(
    { message_id: messageId, parent_tool_call_id: parentCall }: FcmpData<'assistant.message.delta'>,
    at: EventPosition,
    out: AgUiEvent[],
  ): { readonly key: string; readonly by: Attribution } {
    const key = `text ${messageId}`;
    const by = this.#open.open(key, parentCall, at, out, {
      start: (owner) => [
        { type: 'TEXT_MESSAGE_START', timestamp: at.timestamp, messageId, role: 'assistant', ...owner },
      ],
      end: (timestamp, owner) => [{ type: 'TEXT_MESSAGE_END', timestamp, messageId, ...owner }],
    });
    return { key, by };
  }
}

/** The tool calls of one AG-UI run, with the sub-agents that some of them start. */
export class ToolCallParts {
  readonly #open: OpenParts;
  /** Open calls whose arguments were not reported yet. */
  readonly #callsWithoutInput = new Set<string>();

  constructor(open: OpenParts) {
    this.#open = open;
  }

  toolCall(data: FcmpData<'assistant.tool_call'>, at: EventPosition): AgUiEvent[] {
    const out: AgUiEvent[] = [];
    const { timestamp } = at;
    const id = toToolCallId(data.tool_call_id, at.attempt);
    const by = this.#openCall(id, data, at, out);
    if (data.status !== 'started' || data.input !== undefined)
      out.push(...this.#endInput(id, data.input, timestamp, by));
    if (data.status === 'started') return out;
    const error = data.status === 'failed' ? (data.error ?? 'The tool failed.') : undefined;
    // Not spread into `push`: a malicious sub-agent can leave more items open than a call can have arguments.
    const closingEvents = [...out, ...this.#open.closeSubagent(id, error, timestamp)];
    // If a call claims to belong to the sub-agent that it started, it got its result when the sub-agent was closed.
    if (this.#open.take(`call ${id}`) === undefined) return closingEvents;
    const { started_at, ended_at, duration_ms } = data;
    const times = { started_at, ended_at, duration_ms };
    closingEvents.push(toResult(id, { content: formatToolResult(data), error, ...times }, timestamp, by));
    return closingEvents;
  }

  #openCall(id: string, data: FcmpData<'assistant.tool_call'>, at: EventPosition, out: AgUiEvent[]): Attribution {
    // Without a result, AG-UI expects the application to provide one.
    const error = 'The run ended before this tool did.';
    return this.#open.open(`call ${id}`, data.parent_tool_call_id, at, out, {
      toolName: data.name,
      start: (by) => {
        this.#callsWithoutInput.add(id);
        return [{ type: 'TOOL_CALL_START', timestamp: at.timestamp, toolCallId: id, toolCallName: data.name, ...by }];
      },
      end: (timestamp, by) => [
        ...this.#endInput(id, undefined, timestamp, by),
        toResult(id, { content: error, error }, timestamp, by),
      ],
    });
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
