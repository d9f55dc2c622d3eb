import { toolCallIdOf } from '../part-ids.js';
import type { AgUiEvent } from './ag-ui-event.js';
import type { Attribution, Moment, OpenParts } from './open-parts.js';

/** The sub-agents of one AG-UI run. FCMP knows them by the tool call that started them. */
export class Subagents {
  readonly #open: OpenParts;
  #count = 0;

  constructor(open: OpenParts) {
    this.#open = open;
  }

  /** The sub-agent that a tool call started, opened when its first words come. */
  attribute(parentCall: string | undefined, at: Moment, out: AgUiEvent[]): Attribution {
    if (parentCall === undefined) return {};
    const parentToolCallId = toolCallIdOf(parentCall, at.attempt);
    const known = this.#open.get(keyOf(parentToolCallId))?.subagentRunId;
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
    this.#open.open(keyOf(parentToolCallId), {
      by,
      subagentRunId,
      close: (timestamp) => [{ type: 'SUBAGENT_ERROR', timestamp, subagentRunId, message }],
    });
    return { subagentRunId };
  }

  /** The tool call is over, and with it the sub-agent it started; `failed` says why, if it failed. */
  endThatOf(toolCallId: string, failed: string | undefined, timestamp: number): AgUiEvent[] {
    const subagentRunId = this.#open.get(keyOf(toolCallId))?.subagentRunId;
    if (subagentRunId === undefined) return [];
    const members = this.#open.closeThoseOf(subagentRunId, timestamp);
    this.#open.take(keyOf(toolCallId));
    const end: AgUiEvent =
      failed === undefined
        ? { type: 'SUBAGENT_FINISHED', timestamp, subagentRunId }
        : { type: 'SUBAGENT_ERROR', timestamp, subagentRunId, message: failed };
    return [...members, end];
  }
}

function keyOf(toolCallId: string): string {
  return `subagent ${toolCallId}`;
}
