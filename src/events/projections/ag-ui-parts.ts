import type { FcmpData } from '../protocol/fcmp-event.js';
import type { AgUiEvent } from './ag-ui-event.js';
import { createStreamedTexts } from './streamed-text.js';
import { toolResultText } from './tool-text.js';

/** When an event happened, and which attempt it belongs to. */
export interface Moment {
  readonly attempt: number;
  readonly seq: number;
  readonly timestamp: number;
}

type Attribution = { readonly subagentRunId?: string };

/** Something that was opened in a run and must be closed before the run ends. */
interface OpenPart {
  /** The sub-agent it belongs to. */
  readonly owner?: string;
  /** The sub-agent it is. */
  readonly subagentRunId?: string;
  close(timestamp: number): AgUiEvent[];
}

/**
 * The messages, thoughts, tool calls and sub-agents of one AG-UI run. Each is opened once and closed once; whatever
 * an engine leaves open is closed by `closeAll`.
 */
export function createAgUiParts() {
  const open = new Map<string, OpenPart>();
  const calls = new Map<string, { readonly name: string; inputTold: boolean }>();
  const texts = createStreamedTexts();
  let subagents = 0;

  function take(key: string): OpenPart | undefined {
    const part = open.get(key);
    open.delete(key);
    return part;
  }

  /** The sub-agent that a tool call started, opened when its first words come. */
  function attribute(parentCall: string | undefined, at: Moment, out: AgUiEvent[]): Attribution {
    if (parentCall === undefined) return {};
    const parentToolCallId = toolCallId(parentCall, at);
    const known = open.get(`subagent ${parentToolCallId}`)?.subagentRunId;
    if (known !== undefined) return { subagentRunId: known };
    subagents += 1;
    const subagentRunId = `subagent_${at.attempt}_${subagents}`;
    const owner = open.get(`call ${parentToolCallId}`)?.owner;
    out.push({
      type: 'SUBAGENT_STARTED',
      timestamp: at.timestamp,
      subagentRunId,
      name: calls.get(parentToolCallId)?.name ?? 'subagent',
      parentToolCallId,
      ...(owner === undefined ? {} : { parentSubagentRunId: owner }),
    });
    open.set(`subagent ${parentToolCallId}`, {
      subagentRunId,
      ...(owner === undefined ? {} : { owner }),
      close: (timestamp) => [
        { type: 'SUBAGENT_ERROR', timestamp, subagentRunId, message: 'The run ended before this sub-agent did.' },
      ],
    });
    return { subagentRunId };
  }

  function openPart(key: string, attribution: Attribution, close: OpenPart['close']): void {
    open.set(key, attribution.subagentRunId === undefined ? { close } : { owner: attribution.subagentRunId, close });
  }

  function openMessage(messageId: string, parentCall: string | undefined, at: Moment, out: AgUiEvent[]): Attribution {
    const part = open.get(`text ${messageId}`);
    if (part !== undefined) return part.owner === undefined ? {} : { subagentRunId: part.owner };
    const by = attribute(parentCall, at, out);
    out.push({ type: 'TEXT_MESSAGE_START', timestamp: at.timestamp, messageId, role: 'assistant', ...by });
    openPart(`text ${messageId}`, by, (timestamp) => [{ type: 'TEXT_MESSAGE_END', timestamp, messageId, ...by }]);
    return by;
  }

  function openReasoning(messageId: string, parentCall: string | undefined, at: Moment, out: AgUiEvent[]): Attribution {
    const part = open.get(`reasoning ${messageId}`);
    if (part !== undefined) return part.owner === undefined ? {} : { subagentRunId: part.owner };
    const by = attribute(parentCall, at, out);
    const { timestamp } = at;
    out.push({ type: 'REASONING_START', timestamp, messageId, ...by });
    out.push({ type: 'REASONING_MESSAGE_START', timestamp, messageId, role: 'reasoning', ...by });
    openPart(`reasoning ${messageId}`, by, (end) => [
      { type: 'REASONING_MESSAGE_END', timestamp: end, messageId, ...by },
      { type: 'REASONING_END', timestamp: end, messageId, ...by },
    ]);
    return by;
  }

  function openCall(data: FcmpData<'assistant.tool_call'>, at: Moment, out: AgUiEvent[]): Attribution {
    const id = toolCallId(data.tool_call_id, at);
    const part = open.get(`call ${id}`);
    if (part !== undefined) return part.owner === undefined ? {} : { subagentRunId: part.owner };
    const by = attribute(data.parent_tool_call_id, at, out);
    out.push({ type: 'TOOL_CALL_START', timestamp: at.timestamp, toolCallId: id, toolCallName: data.name, ...by });
    calls.set(id, { name: data.name, inputTold: false });
    openPart(`call ${id}`, by, (timestamp) => {
      const closing: AgUiEvent[] = [];
      endInput(id, undefined, { ...at, timestamp }, by, closing);
      // An unanswered call would read as one that the application is expected to answer.
      const error = 'The run ended before this tool did.';
      closing.push(result(id, error, { error }, timestamp, by));
      calls.delete(id);
      return closing;
    });
    return by;
  }

  /** A call's arguments are told once, as soon as they are known; that ends the call's own part of the story. */
  function endInput(id: string, input: unknown, at: Moment, by: Attribution, out: AgUiEvent[]): void {
    const call = calls.get(id);
    if (call === undefined || call.inputTold) return;
    call.inputTold = true;
    if (input !== undefined) {
      out.push({
        type: 'TOOL_CALL_ARGS',
        timestamp: at.timestamp,
        toolCallId: id,
        delta: JSON.stringify(input),
        ...by,
      });
    }
    out.push({ type: 'TOOL_CALL_END', timestamp: at.timestamp, toolCallId: id, ...by });
  }

  function closeSubagentOf(id: string, failed: string | undefined, timestamp: number, out: AgUiEvent[]): void {
    const subagentRunId = open.get(`subagent ${id}`)?.subagentRunId;
    if (subagentRunId === undefined) return;
    const members = new Set([subagentRunId]);
    const keys: string[] = [];
    for (const [key, part] of open) {
      if (part.owner === undefined || !members.has(part.owner)) continue;
      if (part.subagentRunId !== undefined) members.add(part.subagentRunId);
      keys.push(key);
    }
    for (const key of keys.toReversed()) out.push(...(take(key)?.close(timestamp) ?? []));
    open.delete(`subagent ${id}`);
    out.push(
      failed === undefined
        ? { type: 'SUBAGENT_FINISHED', timestamp, subagentRunId }
        : { type: 'SUBAGENT_ERROR', timestamp, subagentRunId, message: failed },
    );
  }

  return {
    messageDelta(data: FcmpData<'assistant.message.delta'>, at: Moment): AgUiEvent[] {
      const out: AgUiEvent[] = [];
      if (data.text === '') return out;
      const by = openMessage(data.message_id, data.parent_tool_call_id, at, out);
      const { timestamp } = at;
      out.push({ type: 'TEXT_MESSAGE_CONTENT', timestamp, messageId: data.message_id, delta: data.text, ...by });
      texts.append(`text ${data.message_id}`, data.text);
      return out;
    },

    messageFinal(data: FcmpData<'assistant.message.final'>, at: Moment): AgUiEvent[] {
      const out: AgUiEvent[] = [];
      const { timestamp } = at;
      const messageId = data.message_id;
      const by = openMessage(messageId, data.parent_tool_call_id, at, out);
      const { rest, diverged } = texts.finish(`text ${messageId}`, data.text);
      if (rest !== '') out.push({ type: 'TEXT_MESSAGE_CONTENT', timestamp, messageId, delta: rest, ...by });
      out.push(...(take(`text ${messageId}`)?.close(timestamp) ?? []));
      if (diverged || data.structured_payload !== undefined) {
        out.push({ type: 'CUSTOM', timestamp, name: 'assistant.message.final', value: data, ...by });
      }
      return out;
    },

    reasoning(data: FcmpData<'assistant.reasoning'>, at: Moment): AgUiEvent[] {
      const out: AgUiEvent[] = [];
      const { timestamp } = at;
      const messageId = `reasoning_${at.attempt}_${data.reasoning_id ?? at.seq}`;
      const key = `reasoning ${messageId}`;
      if (data.partial === true) {
        if (data.text === '') return out;
        const by = openReasoning(messageId, data.parent_tool_call_id, at, out);
        out.push({ type: 'REASONING_MESSAGE_CONTENT', timestamp, messageId, delta: data.text, ...by });
        texts.append(key, data.text);
        return out;
      }
      const by = openReasoning(messageId, data.parent_tool_call_id, at, out);
      const { rest } = texts.finish(key, data.text);
      if (rest !== '') out.push({ type: 'REASONING_MESSAGE_CONTENT', timestamp, messageId, delta: rest, ...by });
      out.push(...(take(key)?.close(timestamp) ?? []));
      return out;
    },

    toolCall(data: FcmpData<'assistant.tool_call'>, at: Moment): AgUiEvent[] {
      const out: AgUiEvent[] = [];
      const id = toolCallId(data.tool_call_id, at);
      const by = openCall(data, at, out);
      if (data.status === 'started') {
        if (data.input !== undefined) endInput(id, data.input, at, by, out);
        return out;
      }
      endInput(id, data.input, at, by, out);
      const failed = data.status === 'failed' ? (data.error ?? 'The tool failed.') : undefined;
      closeSubagentOf(id, failed, at.timestamp, out);
      // A call that claims to belong to its own sub-agent was answered when that was closed.
      if (take(`call ${id}`) === undefined) return out;
      out.push(
        result(id, toolResultText(data), failed === undefined ? undefined : { error: failed }, at.timestamp, by),
      );
      calls.delete(id);
      return out;
    },

    closeAll(timestamp: number): AgUiEvent[] {
      const out: AgUiEvent[] = [];
      for (const key of [...open.keys()].toReversed()) out.push(...(take(key)?.close(timestamp) ?? []));
      texts.clear();
      return out;
    },
  };
}

/** Engines number their calls anew in each attempt; a conversation needs ids that stay apart. */
function toolCallId(id: string, at: Moment): string {
  return at.attempt === 1 ? id : `${at.attempt}:${id}`;
}

function result(
  id: string,
  content: string,
  metadata: { readonly error: string } | undefined,
  timestamp: number,
  by: Attribution,
): AgUiEvent {
  return {
    type: 'TOOL_CALL_RESULT',
    timestamp,
    messageId: `${id}_result`,
    toolCallId: id,
    content,
    role: 'tool',
    ...(metadata === undefined ? {} : { metadata }),
    ...by,
  };
}
