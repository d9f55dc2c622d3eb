import {
  getArray,
  getField,
  getInteger,
  isRecord,
  getName,
  getObject,
  getString,
  createFieldTable,
} from '../../reading/record-fields.js';
import { shorten } from '../../attempt/engine-error.js';
import { readPlan } from '../../reading/read-plan.js';
import type { Report } from '../report.js';
import type { FieldTable } from '../../reading/record-fields.js';

/** Reads `item.started`, `item.updated` and `item.completed`. */
export function readItem(phase: string, record: object, report: Report): void {
  const item = getObject(record, 'item');
  const type = item === null ? null : getString(item, 'type');
  if (item === null || type === null)
    return report.unparsed('MALFORMED_RECORD', `item.${phase} has no item with a type.`);
  const knownFields = ITEM_FIELDS[type];
  if (knownFields === undefined) return report.unknownType(`item.${phase} ${type}`);
  report.checkFields(item, knownFields, `item(${type})`);
  report.keepUnusedFields(item, USED_FIELDS, 'item');
  switch (type) {
    case 'agent_message':
    case 'reasoning':
    case 'error':
      return readText(type, phase, item, report);
    case 'todo_list':
      return report.plan(readPlan(getArray(item, 'items')));
    default:
      return readCall(type, phase, item, report);
  }
}

/** Reads an item that Codex prints once, when it is complete. */
function readText(type: 'agent_message' | 'reasoning' | 'error', phase: string, item: object, report: Report): void {
  if (phase !== 'completed') return report.unknownType(`item.${phase} ${type}`);
  const text = getString(item, type === 'error' ? 'message' : 'text');
  if (text === null) return report.unparsed('MALFORMED_RECORD', `An item of type "${type}" has no text.`);
  if (type === 'agent_message') return report.message(text);
  if (type === 'error') return report.engineError({ message: text, severity: 'warning' });
  const id = getName(item, 'id');
  report.reasoning(text, id === null ? {} : { id });
}

/** Item ids restart with every process, so they are unique within an attempt only. */
function readCall(type: string, phase: string, item: object, report: Report): void {
  const id = getName(item, 'id');
  if (id === null) return report.unparsed('MALFORMED_RECORD', `An item of type "${type}" has no id.`);
  const name = readName(type, item);
  const input = readInput(type, item);
  const paths = type === 'file_change' ? listChangedPaths(item) : [];
  if (phase !== 'completed') return report.toolStarted({ id, name, input, paths });
  // The field that contains the output depends on the kind of call.
  const output = getField(item, 'aggregated_output') ?? getField(item, 'result') ?? getField(item, 'agents_states');
  const exitCode = getInteger(item, 'exit_code');
  const error = findFailure(item);
  if (error === null) report.toolCompleted({ id, name, input, paths, output, exitCode });
  else report.toolFailed({ id, name, input, paths, output, exitCode, error });
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
  const text = result === null || status !== 'failed' ? '' : joinTextContent(getArray(result, 'content'));
  if (text !== '') return text;
  if (status !== 'failed' && status !== 'declined') return null;
  const exitCode = getInteger(item, 'exit_code');
  return exitCode === null ? status : `${status} with exit code ${exitCode}`;
}

/** Joins the text content of a failed MCP call. */
function joinTextContent(content: readonly unknown[]): string {
  const strings = content.filter(isRecord).map((part) => getString(part, 'text'));
  return shorten(strings.filter((text) => text !== null).join('\n'));
}

/*
 * The records of `codex exec --json`: the known types and their fields. Everything else is drift.
 */

/** Fields of each top-level type. */
export const RECORD_FIELDS: FieldTable = createFieldTable(['type'], {
  'thread.started': ['thread_id'],
  'turn.started': [],
  'turn.completed': ['usage'],
  'turn.failed': ['error'],
  'item.started': ['item'],
  'item.updated': ['item'],
  'item.completed': ['item'],
  error: ['message'],
});

/** Fields of each type of item. */
export const ITEM_FIELDS: FieldTable = createFieldTable(['type'], {
  agent_message: ['id', 'text'],
  reasoning: ['id', 'text'],
  command_execution: ['id', 'command', 'aggregated_output', 'exit_code', 'status'],
  file_change: ['id', 'changes', 'status'],
  mcp_tool_call: ['id', 'server', 'tool', 'arguments', 'result', 'error', 'status'],
  collab_tool_call: ['id', 'tool', 'sender_thread_id', 'receiver_thread_ids', 'prompt', 'agents_states', 'status'],
  web_search: ['id', 'query', 'action'],
  todo_list: ['id', 'items'],
  error: ['id', 'message'],
});

/** Fields of items that are already in events, or not needed, such as the ids of messages and plans. */
const USED_FIELDS: ReadonlySet<string> = new Set([
  'type',
  'id',
  'status',
  'text',
  'message',
  'items',
  'command',
  'aggregated_output',
  'exit_code',
  'changes',
  'server',
  'tool',
  'arguments',
  'result',
  'error',
  'receiver_thread_ids',
  'prompt',
  'agents_states',
  'query',
  'action',
]);

/** Fields of `usage`: the thread's token counts so far, not the turn's. */
export const USAGE_FIELDS: ReadonlySet<string> = new Set([
  'input_tokens',
  'cached_input_tokens',
  'cache_write_input_tokens',
  'output_tokens',
  'reasoning_output_tokens',
]);
