import type { FcmpData, FcmpEvent } from '../../protocol/fcmp-event.js';
import { toReasoningId, TextTracker, toToolCallId, formatToolResult } from '../projection.js';
import { omitMissing } from '../../reading/record-fields.js';
import type { AgUiEvent } from './ag-ui-event.js';

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
  close(): AgUiEvent[];
}

/** The events that open and close a part. */
interface PartEvents extends Pick<OpenPart, 'toolName'> {
  readonly start: (by: Attribution) => AgUiEvent[];
  readonly end: (by: Attribution) => AgUiEvent[];
}

/** An AG-UI run with its open parts: each is opened once and closed once, at the end if not before. */
export class AgUiRun {
  readonly threadId: string;
  readonly runId: string;
  readonly attempt: number;
  /** The time of the last event. */
  timestamp = 0;
  /** The permission requests without an answer, by interaction id. */
  readonly permissions = new Map<string, FcmpData<'permission.required'>>();
  readonly #open = new Map<string, OpenPart>();
  readonly #textTracker = new TextTracker();
  /** Open calls whose arguments were not reported yet. */
  readonly #callsWithoutInput = new Set<string>();
  #subagentCount = 0;
  #out: AgUiEvent[] = [];

  constructor({ run_id: threadId, meta: { attempt } }: FcmpEvent) {
    this.threadId = threadId;
    this.runId = `${threadId}:${attempt}`;
    this.attempt = attempt;
  }

  addMessageDelta(data: FcmpData<'assistant.message.delta'>): AgUiEvent[] {
    if (data.text === '') return [];
    const key = this.#addMessageText(data, data.text);
    this.#textTracker.append(key, data.text);
    return this.#take();
  }

  addMessage(data: FcmpData<'assistant.message.final'>): AgUiEvent[] {
    const { rest, diverged } = this.#textTracker.finish(`text ${data.message_id}`, data.text);
    const key = this.#addMessageText(data, rest);
    const by = this.#open.get(key)?.by;
    this.#close(key);
    if (diverged || data.structured_payload !== undefined) {
      const { timestamp } = this;
      this.#out.push({ type: 'CUSTOM', timestamp, name: 'assistant.message.final', value: data, ...by });
    }
    return this.#take();
  }

  addReasoning(data: FcmpData<'assistant.reasoning'>, seq: number): AgUiEvent[] {
    const isChunk = data.partial === true;
    if (isChunk && data.text === '') return [];
    const messageId = toReasoningId(data, { attempt: this.attempt, seq });
    const key = `reasoning ${messageId}`;
    const { timestamp } = this;
    const by = this.#openPart(key, data.parent_tool_call_id, {
      start: (owner) => [
        { type: 'REASONING_START', timestamp, messageId, ...owner },
        { type: 'REASONING_MESSAGE_START', role: 'reasoning', timestamp, messageId, ...owner },
      ],
      end: (owner) => [
        { type: 'REASONING_MESSAGE_END', timestamp: this.timestamp, messageId, ...owner },
        { type: 'REASONING_END', timestamp: this.timestamp, messageId, ...owner },
      ],
    });
    if (isChunk) this.#textTracker.append(key, data.text);
    const delta = isChunk ? data.text : this.#textTracker.finish(key, data.text).rest;
    if (delta !== '') this.#out.push({ type: 'REASONING_MESSAGE_CONTENT', timestamp, messageId, delta, ...by });
    if (!isChunk) this.#close(key);
    return this.#take();
  }

  addToolCall(data: FcmpData<'assistant.tool_call'>): AgUiEvent[] {
    const id = toToolCallId(data.tool_call_id, this.attempt);
    const by = this.#openCall(id, data);
    if (data.status !== 'started' || data.input !== undefined) this.#add(this.#endInput(id, data.input, by));
    if (data.status === 'started') return this.#take();
    const error = data.status === 'failed' ? (data.error ?? 'The tool failed.') : undefined;
    this.#closeSubagent(id, error);
    // If a call claims to belong to the sub-agent that it started, it got its result when the sub-agent was closed.
    if (!this.#open.delete(`call ${id}`)) return this.#take();
    const { started_at, ended_at, duration_ms } = data;
    const metadata = { error, started_at, ended_at, duration_ms };
    this.#out.push(this.#createResult(id, formatToolResult(data), metadata, by));
    return this.#take();
  }

  closeAll(): AgUiEvent[] {
    for (const key of [...this.#open.keys()].toReversed()) this.#close(key);
    return this.#take();
  }

  #take(): AgUiEvent[] {
    const out = this.#out;
    this.#out = [];
    return out;
  }

  #add(events: readonly AgUiEvent[]): void {
    for (const event of events) this.#out.push(event);
  }

  #close(key: string): void {
    const part = this.#open.get(key);
    this.#open.delete(key);
    if (part !== undefined) this.#add(part.close());
  }

  /** Opens a part unless it is open, and its sub-agent with its first output. FCMP names a sub-agent by its tool call. */
  #openPart(key: string, parentCall: string | undefined, { start, end, ...part }: PartEvents): Attribution {
    const known = this.#open.get(key);
    if (known !== undefined) return known.by;
    const by = parentCall === undefined ? {} : this.#openSubagent(toToolCallId(parentCall, this.attempt));
    this.#add(start(by));
    this.#open.set(key, { by, ...part, close: () => end(by) });
    return by;
  }

  /** Opens the message if necessary, and adds text to it; returns its key. */
  #addMessageText(data: FcmpData<'assistant.message.delta'>, delta: string): string {
    const { message_id: messageId, parent_tool_call_id: parentCall } = data;
    const { timestamp } = this;
    const key = `text ${messageId}`;
    const by = this.#openPart(key, parentCall, {
      start: (owner) => [{ type: 'TEXT_MESSAGE_START', timestamp, messageId, role: 'assistant', ...owner }],
      end: (owner) => [{ type: 'TEXT_MESSAGE_END', timestamp: this.timestamp, messageId, ...owner }],
    });
    if (delta !== '') this.#out.push({ type: 'TEXT_MESSAGE_CONTENT', timestamp, messageId, delta, ...by });
    return key;
  }

  #openCall(id: string, data: FcmpData<'assistant.tool_call'>): Attribution {
    // Without a result, AG-UI expects the application to provide one.
    const error = 'The run ended before this tool did.';
    const { timestamp } = this;
    return this.#openPart(`call ${id}`, data.parent_tool_call_id, {
      toolName: data.name,
      start: (by) => {
        this.#callsWithoutInput.add(id);
        return [{ type: 'TOOL_CALL_START', timestamp, toolCallId: id, toolCallName: data.name, ...by }];
      },
      end: (by) => [...this.#endInput(id, undefined, by), this.#createResult(id, error, { error }, by)],
    });
  }

  /** Reports the arguments of a call once, as soon as they are known, and ends the call; its result follows separately. */
  #endInput(id: string, input: unknown, by: Attribution): AgUiEvent[] {
    if (!this.#callsWithoutInput.delete(id)) return [];
    const { timestamp } = this;
    const end: AgUiEvent = { type: 'TOOL_CALL_END', timestamp, toolCallId: id, ...by };
    if (input === undefined) return [end];
    return [{ type: 'TOOL_CALL_ARGS', timestamp, toolCallId: id, delta: JSON.stringify(input), ...by }, end];
  }

  /** Creates the result of a call, with its error, and when it started and ended by the engine's own clock. */
  #createResult(
    toolCallId: string,
    content: string,
    details: Readonly<Record<string, unknown>>,
    by: Attribution,
  ): AgUiEvent {
    const metadata = omitMissing(details);
    return {
      type: 'TOOL_CALL_RESULT',
      timestamp: this.timestamp,
      messageId: `${toolCallId}_result`,
      toolCallId,
      content,
      role: 'tool',
      ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
      ...by,
    };
  }

  #openSubagent(parentToolCallId: string): Attribution {
    const key = `subagent ${parentToolCallId}`;
    const known = this.#open.get(key)?.subagentRunId;
    if (known !== undefined) return { subagentRunId: known };
    this.#subagentCount += 1;
    const subagentRunId = `subagent_${this.attempt}_${this.#subagentCount}`;
    const { by = {}, toolName = 'subagent' } = this.#open.get(`call ${parentToolCallId}`) ?? {};
    this.#out.push({
      type: 'SUBAGENT_STARTED',
      timestamp: this.timestamp,
      subagentRunId,
      name: toolName,
      parentToolCallId,
      ...(by.subagentRunId === undefined ? {} : { parentSubagentRunId: by.subagentRunId }),
    });
    const message = 'The run ended before this sub-agent did.';
    this.#open.set(key, {
      by,
      subagentRunId,
      close: () => [{ type: 'SUBAGENT_ERROR', timestamp: this.timestamp, subagentRunId, message }],
    });
    return { subagentRunId };
  }

  /** Closes the sub-agent that a tool call started, if any, and the parts it left open; `error` is set if the call failed. */
  #closeSubagent(toolCallId: string, error: string | undefined): void {
    const key = `subagent ${toolCallId}`;
    const subagentRunId = this.#open.get(key)?.subagentRunId;
    if (subagentRunId === undefined) return;
    this.#closeMembers(subagentRunId);
    this.#open.delete(key);
    const { timestamp } = this;
    if (error === undefined) this.#out.push({ type: 'SUBAGENT_FINISHED', timestamp, subagentRunId });
    else this.#out.push({ type: 'SUBAGENT_ERROR', timestamp, subagentRunId, message: error });
  }

  /** Closes the parts of a sub-agent and of the sub-agents it started, last first. */
  #closeMembers(subagentRunId: string): void {
    const members = new Set([subagentRunId]);
    const keys: string[] = [];
    for (const [key, { by, subagentRunId: started }] of this.#open) {
      if (by.subagentRunId === undefined || !members.has(by.subagentRunId)) continue;
      if (started !== undefined) members.add(started);
      keys.push(key);
    }
    for (const key of keys.toReversed()) this.#close(key);
  }
}
