import { BoundedMap } from '../../reading/bounded-map.js';
import { get, joinTextContent, toKnownFields, toNames } from '../../reading/record-fields.js';
import { boundMessage } from '../../attempt/engine-error.js';
import { readPlan } from '../../reading/read-plan.js';
import type { Emit, Fact, ToolCall } from '../fact.js';
import { KNOWN_FIELDS } from '../known-fields.js';
import type { FileDiff } from '../../protocol/event-parts.js';
import { readShellScript } from './approval.js';

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
function describeCall(type: string, id: string, item: object): ToolCall {
  const changes = get.records(item, 'changes');
  const paths = changes.map((change) => get.string(change, 'path')).filter((path) => path !== null);
  return { id, name: readName(type, item), input: readInput(type, item), paths: type === 'file_change' ? paths : [] };
}

/** Returns the end of a call. The field that contains the output depends on the kind of call. */
function endCall(call: ToolCall, item: object): Fact {
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

/** Limit on open calls; beyond it, the oldest is dropped. */
const MAX_OPEN = 1024;

/** Items reported only as a status, because they repeat other items or are not needed. */
const STATUS_ONLY = toNames(
  'userMessage hookPrompt plan enteredReviewMode exitedReviewMode contextCompaction subAgentActivity ' +
    'functionCallOutput sleep',
);

/** Reads a turn's items: messages, thoughts and calls. */
export class AppServerItems {
  readonly #emit: Emit;
  /** Started calls; permission requests contain only their id. */
  readonly #open = new BoundedMap<string, ToolCall>(MAX_OPEN);

  constructor(emit: Emit) {
    this.#emit = emit;
  }

  describe(id: string): ToolCall | null {
    return this.#open.get(id) ?? null;
  }

  endTurn(): void {
    this.#open.clear();
  }

  readDelta(kind: 'message' | 'reasoning', params: object): void {
    const emit = this.#emit;
    const id = get.name(params, 'itemId');
    const text = get.string(params, 'delta');
    if (id === null || text === null) return emit({ fact: 'malformed', why: 'A delta has no item or no text.' });
    if (kind === 'message') emit({ fact: 'delta', text, key: id });
    else emit({ fact: 'reasoning', text, id, partial: true });
  }

  read(phase: 'started' | 'completed', params: object): void {
    const emit = this.#emit;
    const item = get.object(params, 'item');
    const type = get.name(item, 'type');
    const id = get.name(item, 'id');
    if (item === null || type === null || id === null)
      return emit({ fact: 'malformed', why: `item/${phase} has no item with a type and an id.` });
    if (STATUS_ONLY.has(type)) return emit({ fact: 'status', status: `item/${phase}`, reason: type, detail: item });
    if (type === 'agentMessage' || type === 'reasoning') {
      if (phase === 'started') return emit({ fact: 'status', status: 'item/started', reason: type });
      return type === 'reasoning' ? this.#readThought(id, item) : this.#readMessage(id, item);
    }
    this.#readCall(phase, type, id, item);
  }

  #readMessage(id: string, item: object): void {
    const text = get.string(item, 'text');
    if (text === null) return this.#emit({ fact: 'malformed', why: 'A message has no text.' });
    this.#emit({ fact: 'message', text, key: id });
  }

  #readThought(id: string, item: object): void {
    const parts = [...get.array(item, 'summary'), ...get.array(item, 'content')];
    const text = parts.filter((part) => typeof part === 'string').join('\n');
    if (text === '') return this.#emit({ fact: 'status', status: 'item/completed', reason: 'reasoning' });
    this.#emit({ fact: 'reasoning', text, id });
  }

  #readCall(phase: 'started' | 'completed', type: string, id: string, item: object): void {
    const known = toExecItem(item);
    const diff = readDiff(item);
    const call = {
      ...describeCall(type === 'imageView' ? 'view_image' : toSnakeCase(type), id, known),
      ...(diff.length === 0 ? undefined : { diff }),
    };
    if (phase === 'started') {
      this.#open.set(id, call);
      return this.#emit({ fact: 'tool_started', ...call });
    }
    this.#open.delete(id);
    this.#emit(endCall(call, known));
  }
}

/** Renames the members of an item as `codex exec` prints them; a command is the one that the model wants to run. */
function toExecItem(item: object): object {
  const members: readonly [string, unknown][] = Object.entries(item);
  return Object.fromEntries(
    members.map(([key, value]) => [
      toSnakeCase(key),
      key === 'command' && typeof value === 'string' ? readShellScript(value) : value,
    ]),
  );
}

function toSnakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`);
}

function readDiff(item: object): FileDiff[] {
  return get.records(item, 'changes').flatMap((change) => {
    const path = get.name(change, 'path');
    const patch = get.string(change, 'diff');
    return path === null ? [] : [{ path, ...(patch === null ? undefined : { patch }) }];
  });
}
