import type { FcmpData, FcmpEvent, FcmpType } from '../protocol/fcmp-event.js';
import type { RaspData, RaspEvent } from '../protocol/rasp-event.js';

/** An FCMP event without its envelope. */
export interface FcmpContent {
  readonly type: FcmpType;
  readonly data: FcmpEvent['data'];
}

/** Converts a RASP event to its FCMP event, or null. `conversation.started` is created by `Session`, only once. */
export function toFcmp(event: RaspEvent): FcmpContent | null {
  const { type } = event.event;
  switch (type) {
    case 'agent.message.delta':
      return dropDetail('assistant.message.delta', event);
    case 'agent.message.final':
      return dropDetail('assistant.message.final', event);
    case 'agent.reasoning.summary':
      return dropDetail('assistant.reasoning', event);
    case 'agent.plan':
      return dropDetail('assistant.plan', event);
    case 'interaction.permission.required':
      return dropDetail('permission.required', event);
    case 'interaction.permission.replied':
      return dropDetail('permission.replied', event);
    case 'tool.call.started':
      return toToolCall('started', event);
    case 'tool.call.completed':
      return toToolCall('completed', event);
    case 'tool.call.failed':
      return toToolCall('failed', event);
    case 'interaction.user_input.required':
      return copyData('user.input.required', event);
    case 'interaction.user_input.replied':
      return copyData('user.input.replied', event);
    case 'lifecycle.run.completed': {
      const { reason_code } = event.data as RaspData<typeof type>;
      return { type: 'conversation.completed', data: { state: 'completed', reason_code } as FcmpEvent['data'] };
    }
    case 'lifecycle.run.failed':
    case 'lifecycle.run.canceled':
      return { type: 'conversation.failed', data: { error: (event.data as RaspData<typeof type>).error } };
    case 'artifact.created':
      return copyData('artifact.created', event);
    case 'artifact.modified':
      return copyData('artifact.modified', event);
    case 'artifact.deleted':
      return copyData('artifact.deleted', event);
    case 'diagnostic.parser.warning':
    case 'diagnostic.parser.error':
      return copyData('diagnostic.warning', event);
    case 'diagnostic.engine.error': {
      return dropDetail('diagnostic.warning', event);
    }
    case 'raw.stdout':
      return copyData('raw.stdout', event);
    case 'raw.stderr':
      return copyData('raw.stderr', event);
    case 'lifecycle.run.started':
    case 'lifecycle.run.status':
    case 'lifecycle.completion.state':
    case 'raw.pty':
      return null;
  }
}

/** Copies the data, which has the same shape in both protocols. */
function copyData(type: FcmpType, event: RaspEvent): FcmpContent {
  return { type, data: event.data as FcmpEvent['data'] };
}

/** Copies the data without `detail`, which FCMP does not have: it only serves to examine the engine's output. */
function dropDetail(type: FcmpType, event: RaspEvent): FcmpContent {
  if (!('detail' in event.data)) return copyData(type, event);
  const { detail: _, ...data } = event.data;
  return { type, data: data as FcmpEvent['data'] };
}

/** Copies field by field: a rest pattern costs more than everything else in the translation. */
function toToolCall(status: 'started' | 'completed' | 'failed', event: RaspEvent): FcmpContent {
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
