import { get, joinTextContent, toKnownFields } from '../../reading/record-fields.js';
import { boundMessage } from '../../attempt/engine-error.js';
import { readPlan } from '../../reading/read-plan.js';
import type { Emit, Fact, ToolCall } from '../fact.js';
import { KNOWN_FIELDS } from '../known-fields.js';

/** The records of `codex exec --json`. */
export const CODEX_FIELDS = toKnownFields(KNOWN_FIELDS.codex);

/** The names of the items' shapes by type; joined for every record, they would have to be hashed for every record. */
const ITEM_SHAPES: ReadonlyMap<string, string> = new Map(
  [...CODEX_FIELDS.keys()].flatMap((shape) => (shape.startsWith('item(') ? [[shape.slice(5, -1), shape]] : [])),
);

/** Reads `item.started`, `item.updated` and `item.completed`. */
export function readItem(phase: string, record: object, emit: Emit): void {
  const item = get.object(record, 'item');
  const type = get.string(item, 'type');
  if (item === null || type === null) return emit({ fact: 'malformed', why: `item.${phase} has no item with a type.` });
  const shape = ITEM_SHAPES.get(type);
  if (shape === undefined) return emit({ fact: 'unknown_type', type: `item.${phase} ${type}` });
  emit({ fact: 'record', record: item, shape });
  switch (type) {
    case 'agent_message':
    case 'reasoning':
    case 'error':
      return readText(type, phase, item, emit);
    case 'todo_list':
      return emit({ fact: 'plan', entries: readPlan(get.array(item, 'items')) });
    default:
      return readCall(type, phase, item, emit);
  }
}

/** Reads an item that Codex prints once, when it is complete. */
function readText(type: 'agent_message' | 'reasoning' | 'error', phase: string, item: object, emit: Emit): void {
  if (phase !== 'completed') return emit({ fact: 'unknown_type', type: `item.${phase} ${type}` });
  const text = get.string(item, type === 'error' ? 'message' : 'text');
  if (text === null) return emit({ fact: 'malformed', why: `An item of type "${type}" has no text.` });
  if (type === 'agent_message') return emit({ fact: 'message', text });
  if (type === 'error') return emit({ fact: 'error', message: text, severity: 'warning' });
  const id = get.name(item, 'id');
  emit({ fact: 'reasoning', text, id });
}

/** Item ids restart with every process, so they are unique within an attempt only. */
function readCall(type: string, phase: string, item: object, emit: Emit): void {
  const id = get.name(item, 'id');
  if (id === null) return emit({ fact: 'malformed', why: `An item of type "${type}" has no id.` });
  const call = describeCall(type, id, item);
  if (phase === 'completed') emit(endCall(call, item));
  else emit({ fact: 'tool_started', ...call });
}

/** Describes the call of an item, whose fields are in snake_case. */
export function describeCall(type: string, id: string, item: object): ToolCall {
  const changes = get.records(item, 'changes');
  const paths = changes.map((change) => get.string(change, 'path')).filter((path) => path !== null);
  return { id, name: readName(type, item), input: readInput(type, item), paths: type === 'file_change' ? paths : [] };
}

/** Returns the end of a call. The field that contains the output depends on the kind of call. */
export function endCall(call: ToolCall, item: object): Fact {
  const output = OUTPUTS.map((name) => get.field(item, name)).find((value) => value !== undefined && value !== null);
  const exitCode = get.integer(item, 'exit_code');
  const error = findFailure(item, exitCode);
  const end = { ...call, output, exitCode };
  return error === null ? { fact: 'tool_completed', ...end } : { fact: 'tool_failed', ...end, error };
}

const OUTPUTS = ['aggregated_output', 'result', 'agents_states', 'content_items'];

function readName(type: string, item: object): string {
  const tool = get.name(item, 'tool');
  if (tool === null) return type;
  const server = get.name(item, 'server') ?? get.name(item, 'namespace');
  return server === null ? tool : `${server}.${tool}`;
}

function readInput(type: string, item: object): unknown {
  switch (type) {
    case 'command_execution':
      return { command: get.field(item, 'command') };
    case 'file_change':
      return { changes: get.array(item, 'changes') };
    case 'mcp_tool_call':
    case 'dynamic_tool_call':
      return get.field(item, 'arguments');
    case 'web_search':
      return { query: get.field(item, 'query'), action: get.field(item, 'action') };
    case 'view_image':
      return { path: get.field(item, 'path') };
    case 'collab_tool_call':
      return { prompt: get.field(item, 'prompt'), receiver_thread_ids: get.array(item, 'receiver_thread_ids') };
    default:
      return { prompt: get.field(item, 'prompt') };
  }
}

function findFailure(item: object, exitCode: number | null): string | null {
  const error = get.string(get.object(item, 'error'), 'message');
  if (error !== null) return error;
  const status = get.string(item, 'status');
  if (status !== 'failed' && status !== 'declined') return null;
  const text = boundMessage(joinTextContent(get.array(get.object(item, 'result'), 'content')));
  if (text !== '') return text;
  return exitCode === null ? status : `${status} with exit code ${exitCode}`;
}
