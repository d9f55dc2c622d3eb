import type { FcmpData } from '../../protocol/fcmp-event.js';
import { toolCallIdOf } from '../part-ids.js';
import { toolResultText } from '../tool-text.js';
import type { AgUiEvent } from './ag-ui-event.js';
import type { Attribution, Moment, OpenParts } from './open-parts.js';
import type { Subagents } from './subagents.js';

/** The tool calls of one AG-UI run, with the sub-agents that some of them start. */
export class ToolCallParts {
  readonly #open: OpenParts;
  readonly #subagents: Subagents;
  /** Open calls whose arguments were not told yet. */
  readonly #withoutInput = new Set<string>();

  constructor(open: OpenParts, subagents: Subagents) {
    this.#open = open;
    this.#subagents = subagents;
  }

  toolCall(data: FcmpData<'assistant.tool_call'>, at: Moment): AgUiEvent[] {
    const out: AgUiEvent[] = [];
    const { timestamp } = at;
    const id = toolCallIdOf(data.tool_call_id, at.attempt);
    const by = this.#openCall(id, data, at, out);
    if (data.status === 'started') {
      if (data.input !== undefined) out.push(...this.#endInput(id, data.input, timestamp, by));
      return out;
    }
    out.push(...this.#endInput(id, data.input, timestamp, by));
    const error = data.status === 'failed' ? (data.error ?? 'The tool failed.') : undefined;
    // Not spread into a call: a hostile sub-agent may leave more open than a call has room for arguments.
    const closed = [...out, ...this.#subagents.endThatOf(id, error, timestamp)];
    // A call that claims to belong to its own sub-agent was answered when that was closed.
    if (this.#open.take(`call ${id}`) === undefined) return closed;
    closed.push(resultOf(id, { content: toolResultText(data), error }, timestamp, by));
    return closed;
  }

  #openCall(id: string, data: FcmpData<'assistant.tool_call'>, at: Moment, out: AgUiEvent[]): Attribution {
    const part = this.#open.get(`call ${id}`);
    if (part !== undefined) return part.by;
    const by = this.#subagents.attribute(data.parent_tool_call_id, at, out);
    out.push({ type: 'TOOL_CALL_START', timestamp: at.timestamp, toolCallId: id, toolCallName: data.name, ...by });
    this.#withoutInput.add(id);
    // An unanswered call would read as one that the application is expected to answer.
    const error = 'The run ended before this tool did.';
    this.#open.open(`call ${id}`, {
      by,
      toolName: data.name,
      close: (timestamp) => [
        ...this.#endInput(id, undefined, timestamp, by),
        resultOf(id, { content: error, error }, timestamp, by),
      ],
    });
    return by;
  }

  /** A call's arguments are told once, as soon as they are known; that ends the call's own part of the story. */
  #endInput(id: string, input: unknown, timestamp: number, by: Attribution): AgUiEvent[] {
    if (!this.#withoutInput.delete(id)) return [];
    const end: AgUiEvent = { type: 'TOOL_CALL_END', timestamp, toolCallId: id, ...by };
    if (input === undefined) return [end];
    return [{ type: 'TOOL_CALL_ARGS', timestamp, toolCallId: id, delta: JSON.stringify(input), ...by }, end];
  }
}

function resultOf(
  id: string,
  { content, error }: { readonly content: string; readonly error: string | undefined },
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
    ...(error === undefined ? {} : { metadata: { error } }),
    ...by,
  };
}
