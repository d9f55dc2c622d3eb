import type { FcmpData, FcmpEvent, FcmpType } from '../protocol/fcmp-event.js';
import type { RaspData, RaspEvent, RaspType } from '../protocol/rasp-event.js';

/** An FCMP event without its envelope. */
export interface FcmpContent {
  readonly type: FcmpType;
  readonly data: FcmpEvent['data'];
}

/** The FCMP type of each RASP type; null if it has none. `conversation.started` is created by `Session`, only once. */
const FCMP_TYPES: Readonly<Record<RaspType, FcmpType | null>> = {
  'agent.message.delta': 'assistant.message.delta',
  'agent.message.final': 'assistant.message.final',
  'agent.reasoning.summary': 'assistant.reasoning',
  'agent.plan': 'assistant.plan',
  'interaction.permission.required': 'permission.required',
  'interaction.permission.replied': 'permission.replied',
  'interaction.user_input.required': 'user.input.required',
  'interaction.user_input.replied': 'user.input.replied',
  'tool.call.started': 'assistant.tool_call',
  'tool.call.completed': 'assistant.tool_call',
  'tool.call.failed': 'assistant.tool_call',
  'lifecycle.run.completed': 'conversation.completed',
  'lifecycle.run.failed': 'conversation.failed',
  'lifecycle.run.canceled': 'conversation.failed',
  'artifact.created': 'artifact.created',
  'artifact.modified': 'artifact.modified',
  'artifact.deleted': 'artifact.deleted',
  'diagnostic.parser.warning': 'diagnostic.warning',
  'diagnostic.parser.error': 'diagnostic.warning',
  'diagnostic.engine.error': 'diagnostic.warning',
  'raw.stdout': 'raw.stdout',
  'raw.stderr': 'raw.stderr',
  'raw.pty': null,
  'lifecycle.run.started': null,
  'lifecycle.run.status': null,
  'lifecycle.completion.state': null,
};

/** Converts a RASP event to its FCMP event, or null. */
export function toFcmp({ event, data }: RaspEvent): FcmpContent | null {
  const type = FCMP_TYPES[event.type];
  if (type === null) return null;
  if (type === 'assistant.tool_call') return toToolCall(event.type, data as RaspData<'tool.call.started'>);
  if (type === 'conversation.completed') {
    const { reason_code } = data as RaspData<'lifecycle.run.completed'>;
    return { type, data: { state: 'completed', reason_code } as FcmpEvent['data'] };
  }
  if (type === 'conversation.failed')
    return { type, data: { error: (data as RaspData<'lifecycle.run.failed'>).error } };
  // The other data has the same shape, but FCMP has no `detail`: it only serves to examine the engine's output.
  if (!('detail' in data)) return { type, data: data as FcmpEvent['data'] };
  const { detail: _, ...rest } = data;
  return { type, data: rest as FcmpEvent['data'] };
}

/** Copies field by field: a rest pattern costs more than everything else in the translation. */
function toToolCall(type: RaspType, call: RaspData<'tool.call.started'> & Partial<RaspData<'tool.call.failed'>>) {
  const status = type.slice('tool.call.'.length) as FcmpData<'assistant.tool_call'>['status'];
  const data: Writable<FcmpData<'assistant.tool_call'>> = { tool_call_id: call.tool_call_id, name: call.name, status };
  if (call.input !== undefined) data.input = call.input;
  if (call.output !== undefined) data.output = call.output;
  if (call.error !== undefined) data.error = call.error;
  if (call.exit_code !== undefined) data.exit_code = call.exit_code;
  if (call.diff !== undefined) data.diff = call.diff;
  if (call.locations !== undefined) data.locations = call.locations;
  if (call.parent_tool_call_id !== undefined) data.parent_tool_call_id = call.parent_tool_call_id;
  return { type: 'assistant.tool_call', data } as const;
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };
