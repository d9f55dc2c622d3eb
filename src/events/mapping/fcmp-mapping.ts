import type { FcmpData, FcmpEvent, FcmpType } from '../protocol/fcmp-event.js';
import type { RaspData, RaspEvent } from '../protocol/rasp-event.js';

/** An FCMP event without its envelope. */
export interface FcmpFact {
  readonly type: FcmpType;
  readonly data: FcmpEvent['data'];
}

/**
 * Converts a RASP event to the FCMP event that people see; null if there is none. `conversation.started` is not here: it is
 * emitted once per attempt, by the session.
 */
export function toFcmp(event: RaspEvent): FcmpFact | null {
  const { type } = event.event;
  switch (type) {
    case 'agent.message.delta':
      return withoutDetail('assistant.message.delta', event);
    case 'agent.message.final':
      return withoutDetail('assistant.message.final', event);
    case 'agent.reasoning.summary':
      return withoutDetail('assistant.reasoning', event);
    case 'agent.plan':
      return withoutDetail('assistant.plan', event);
    case 'interaction.permission.required':
      return withoutDetail('permission.required', event);
    case 'interaction.permission.replied':
      return withoutDetail('permission.replied', event);
    case 'tool.call.started':
      return toolCall('started', event);
    case 'tool.call.completed':
      return toolCall('completed', event);
    case 'tool.call.failed':
      return toolCall('failed', event);
    case 'interaction.user_input.required':
      return same('user.input.required', event);
    case 'interaction.user_input.replied':
      return same('user.input.replied', event);
    case 'lifecycle.run.completed': {
      const { reason_code } = event.data as RaspData<typeof type>;
      return { type: 'conversation.completed', data: { state: 'completed', reason_code } as FcmpEvent['data'] };
    }
    case 'lifecycle.run.failed':
    case 'lifecycle.run.canceled':
      return { type: 'conversation.failed', data: { error: (event.data as RaspData<typeof type>).error } };
    case 'artifact.created':
      return same('artifact.created', event);
    case 'artifact.modified':
      return same('artifact.modified', event);
    case 'artifact.deleted':
      return same('artifact.deleted', event);
    case 'diagnostic.parser.warning':
    case 'diagnostic.parser.error':
      return same('diagnostic.warning', event);
    case 'diagnostic.engine.error': {
      return withoutDetail('diagnostic.warning', event);
    }
    case 'raw.stdout':
      return same('raw.stdout', event);
    case 'raw.stderr':
      return same('raw.stderr', event);
    case 'lifecycle.run.started':
    case 'lifecycle.run.status':
    case 'lifecycle.completion.state':
    case 'raw.pty':
      return null;
  }
}

/** The data has the same shape in both protocols. */
function same(type: FcmpType, event: RaspEvent): FcmpFact {
  return { type, data: event.data as FcmpEvent['data'] };
}

/** FCMP has no `detail`, which is only useful for examining the engine's output. */
function withoutDetail(type: FcmpType, event: RaspEvent): FcmpFact {
  if (!('detail' in event.data)) return same(type, event);
  const { detail: _, ...data } = event.data;
  return { type, data: data as FcmpEvent['data'] };
}

/** Field by field: a rest pattern costs more than the rest of the translation. */
function toolCall(status: 'started' | 'completed' | 'failed', event: RaspEvent): FcmpFact {
  const call = event.data as RaspData<'tool.call.started'> & Partial<RaspData<'tool.call.failed'>>;
  const data: Writable<FcmpData<'assistant.tool_call'>> = { tool_call_id: call.tool_call_id, name: call.name, status };
  if (call.input !== undefined) data.input = call.input;
  if (call.output !== undefined) data.output = call.output;
  if (call.error !== undefined) data.error = call.error;
  if (call.exit_code !== undefined) data.exit_code = call.exit_code;
  if (call.diff !== undefined) data.diff = call.diff;
  if (call.locations !== undefined) data.locations = call.locations;
  if (call.parent_tool_call_id !== undefined) data.parent_tool_call_id = call.parent_tool_call_id;
  return { type: 'assistant.tool_call', data };
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };
