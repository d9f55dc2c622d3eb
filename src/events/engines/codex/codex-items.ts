import {
  getArray,
  getField,
  getInteger,
  isRecord,
  joinTextContent,
  getName,
  getObject,
  getString,
  toKnownFields,
} from '../../reading/record-fields.js';
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
  const item = getObject(record, 'item');
  const type = getString(item, 'type');
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
      return emit({ fact: 'plan', entries: readPlan(getArray(item, 'items')) });
    default:
      return readCall(type, phase, item, emit);
  }
}

/** Reads an item that Codex prints once, when it is complete. */
function readText(type: 'agent_message' | 'reasoning' | 'error', phase: string, item: object, emit: Emit): void {
  if (phase !== 'completed') return emit({ fact: 'unknown_type', type: `item.${phase} ${type}` });
  const text = getString(item, type === 'error' ? 'message' : 'text');
  if (text === null) return emit({ fact: 'malformed', why: `An item of type "${type}" has no text.` });
  if (type === 'agent_message') return emit({ fact: 'message', text });
  if (type === 'error') return emit({ fact: 'error', message: text, severity: 'warning' });
  const id = getName(item, 'id');
  emit({ fact: 'reasoning', text, id });
}

/** Item ids restart with every process, so they are unique within an attempt only. */
function readCall(type: string, phase: string, item: object, emit: Emit): void {
  const id = getName(item, 'id');
  if (id === null) return emit({ fact: 'malformed', why: `An item of type "${type}" has no id.` });
  const call = describeCall(type, id, item);
  if (phase === 'completed') emit(endCall(call, item));
  else emit({ fact: 'tool_started', ...call });
}

/** Describes the call of an item, whose fields are in snake_case. */
export function describeCall(type: string, id: string, item: object): ToolCall {
  const changes = getArray(item, 'changes').filter(isRecord);
  const paths = changes.map((change) => getString(change, 'path')).filter((path) => path !== null);
  return { id, name: readName(type, item), input: readInput(type, item), paths: type === 'file_change' ? paths : [] };
}

/** Returns the end of a call. The field that contains the output depends on the kind of call. */
export function endCall(call: ToolCall, item: object): Fact {
  const output = OUTPUTS.map((name) => getField(item, name)).find((value) => value !== undefined && value !== null);
  const exitCode = getInteger(item, 'exit_code');
  const error = findFailure(item, exitCode);
  const end = { ...call, output, exitCode };
  return error === null ? { fact: 'tool_completed', ...end } : { fact: 'tool_failed', ...end, error };
}

const OUTPUTS = ['aggregated_output', 'result', 'agents_states', 'content_items'];

function readName(type: string, item: object): string {
  const tool = getName(item, 'tool');
  if (tool === null) return type;
  const server = getName(item, 'server') ?? getName(item, 'namespace');
  return server === null ? tool : `${server}.${tool}`;
}

function readInput(type: string, item: object): unknown {
  switch (type) {
    case 'command_execution':
      return { command: getField(item, 'command') };
    case 'file_change':
      return { changes: getArray(item, 'changes') };
    case 'mcp_tool_call':
    case 'dynamic_tool_call':
      return getField(item, 'arguments');
    case 'web_search':
      return { query: getField(item, 'query'), action: getField(item, 'action') };
    case 'view_image':
      return { path: getField(item, 'path') };
    case 'collab_tool_call':
      return { prompt: getField(item, 'prompt'), receiver_thread_ids: getArray(item, 'receiver_thread_ids') };
    default:
      return { prompt: getField(item, 'prompt') };
  }
}

/** Returns why the call failed, or null if it did not. */
function findFailure(item: object, exitCode: number | null): string | null {
  const error = getString(getObject(item, 'error'), 'message');
  if (error !== null) return error;
  const status = getString(item, 'status');
  if (status !== 'failed' && status !== 'declined') return null;
  const text = boundMessage(joinTextContent(getArray(getObject(item, 'result'), 'content')));
  if (text !== '') return text;
  return exitCode === null ? status : `${status} with exit code ${exitCode}`;
}
