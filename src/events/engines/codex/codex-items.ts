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
import type { Emit } from '../fact.js';
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
  const type = item === null ? null : getString(item, 'type');
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
  const name = readName(type, item);
  const input = readInput(type, item);
  const paths = type === 'file_change' ? listChangedPaths(item) : [];
  if (phase !== 'completed') return emit({ fact: 'tool_started', id, name, input, paths });
  // The field that contains the output depends on the kind of call.
  const output = getField(item, 'aggregated_output') ?? getField(item, 'result') ?? getField(item, 'agents_states');
  const exitCode = getInteger(item, 'exit_code');
  const error = findFailure(item);
  if (error === null) emit({ fact: 'tool_completed', id, name, input, paths, output, exitCode });
  else emit({ fact: 'tool_failed', id, name, input, paths, output, exitCode, error });
}

function readName(type: string, item: object): string {
  if (type !== 'mcp_tool_call' && type !== 'collab_tool_call') return type;
  const tool = getName(item, 'tool') ?? type;
  const server = getName(item, 'server');
  return server === null ? tool : `${server}.${tool}`;
}

function readInput(type: string, item: object): unknown {
  switch (type) {
    case 'command_execution':
      return { command: getField(item, 'command') };
    case 'file_change':
      return { changes: getArray(item, 'changes') };
    case 'mcp_tool_call':
      return getField(item, 'arguments');
    case 'collab_tool_call':
      return { prompt: getField(item, 'prompt'), receiver_thread_ids: getArray(item, 'receiver_thread_ids') };
    default:
      return { query: getField(item, 'query'), action: getField(item, 'action') };
  }
}

function listChangedPaths(item: object): readonly string[] {
  const changes = getArray(item, 'changes').filter(isRecord);
  return changes.map((change) => getString(change, 'path')).filter((path) => path !== null);
}

/** Returns why the call failed, or null if it did not. */
function findFailure(item: object): string | null {
  const status = getString(item, 'status');
  const error = getString(getObject(item, 'error') ?? {}, 'message');
  if (error !== null) return error;
  const result = getObject(item, 'result');
  const text = result === null || status !== 'failed' ? '' : boundMessage(joinTextContent(getArray(result, 'content')));
  if (text !== '') return text;
  if (status !== 'failed' && status !== 'declined') return null;
  const exitCode = getInteger(item, 'exit_code');
  return exitCode === null ? status : `${status} with exit code ${exitCode}`;
}
