import type { FileDiff } from '../../protocol/event-parts.js';
import { BoundedMap } from '../../reading/bounded-map.js';
import { boundMessage } from '../../attempt/engine-error.js';
import {
  getArray,
  getField,
  getInteger,
  isRecord,
  getName,
  getObject,
  getString,
} from '../../reading/record-fields.js';
import type { Emit, ToolCall } from '../fact.js';
import { readShellScript } from './shell-script.js';

/** Limit on open calls; beyond it, the oldest is dropped. */
const MAX_OPEN = 1024;

/** Items reported only as a status, because they repeat other items or are not needed. */
const STATUS_ONLY: ReadonlySet<string> = new Set([
  'userMessage',
  'hookPrompt',
  'plan',
  'enteredReviewMode',
  'exitedReviewMode',
  'contextCompaction',
  'subAgentActivity',
  'functionCallOutput',
  'sleep',
]);

/** The names of these calls in the output of `codex exec`. */
const TOOL_NAMES: ReadonlyMap<string, string> = new Map([
  ['commandExecution', 'command_execution'],
  ['fileChange', 'file_change'],
  ['webSearch', 'web_search'],
  ['imageView', 'view_image'],
  ['imageGeneration', 'image_generation'],
]);

/** Reads a turn's items: messages, thoughts and calls. */
export class AppServerItems {
  readonly #emit: Emit;
  /** Started calls; permission requests contain only their id. */
  readonly #open = new BoundedMap<string, ToolCall>(MAX_OPEN);

  constructor(emit: Emit) {
    this.#emit = emit;
  }

  /** Returns the details of a started call. */
  describe(id: string): ToolCall | null {
    return this.#open.get(id) ?? null;
  }

  endTurn(): void {
    this.#open.clear();
  }

  readDelta(kind: 'message' | 'reasoning', params: object): void {
    const emit = this.#emit;
    const id = getName(params, 'itemId');
    const text = getString(params, 'delta');
    if (id === null || text === null) return emit({ fact: 'malformed', why: 'A delta has no item or no text.' });
    if (kind === 'message') emit({ fact: 'delta', text, key: id });
    else emit({ fact: 'reasoning', text, id, partial: true });
  }

  read(phase: 'started' | 'completed', params: object): void {
    const emit = this.#emit;
    const item = getObject(params, 'item');
    const type = item === null ? null : getName(item, 'type');
    const id = item === null ? null : getName(item, 'id');
    if (item === null || type === null || id === null)
      return emit({
        fact: 'malformed',
        why: `item/${phase} has no item with a type and an id.`,
      });
    if (STATUS_ONLY.has(type)) return emit({ fact: 'status', status: `item/${phase}`, reason: type, detail: item });
    if (type === 'agentMessage' || type === 'reasoning') {
      if (phase === 'started') return emit({ fact: 'status', status: 'item/started', reason: type });
      return type === 'reasoning' ? this.#readThought(id, item) : this.#readMessage(id, item);
    }
    this.#readCall(phase, type, id, item);
  }

  #readMessage(id: string, item: object): void {
    const text = getString(item, 'text');
    if (text === null) return this.#emit({ fact: 'malformed', why: 'A message has no text.' });
    this.#emit({ fact: 'message', text, key: id });
  }

  #readThought(id: string, item: object): void {
    const parts = [...getArray(item, 'summary'), ...getArray(item, 'content')];
    const text = parts.filter((part) => typeof part === 'string').join('\n');
    if (text === '') return this.#emit({ fact: 'status', status: 'item/completed', reason: 'reasoning' });
    this.#emit({ fact: 'reasoning', text, id });
  }

  #readCall(phase: 'started' | 'completed', type: string, id: string, item: object): void {
    const emit = this.#emit;
    const call = describeCall(type, id, item);
    if (phase === 'started') {
      this.#open.set(id, call);
      return emit({ fact: 'tool_started', ...call });
    }
    this.#open.delete(id);
    const output = getField(item, 'aggregatedOutput') ?? getField(item, 'result') ?? getField(item, 'contentItems');
    const exitCode = getInteger(item, 'exitCode');
    const error = findFailure(item, exitCode);
    const endReport = { ...call, ...(output === null ? undefined : { output }), exitCode };
    if (error === null) emit({ fact: 'tool_completed', ...endReport });
    else emit({ fact: 'tool_failed', ...endReport, error });
  }
}

function describeCall(type: string, id: string, item: object): ToolCall {
  const diff = readDiff(item);
  return {
    id,
    name: readName(type, item),
    input: readInput(type, item),
    ...(diff.length === 0 ? undefined : { diff, paths: diff.map(({ path }) => path) }),
  };
}

function readName(type: string, item: object): string {
  const tool = getName(item, 'tool');
  if (tool === null) return TOOL_NAMES.get(type) ?? type;
  const server = getName(item, 'server') ?? getName(item, 'namespace');
  return server === null ? tool : `${server}.${tool}`;
}

function readInput(type: string, item: object): unknown {
  switch (type) {
    case 'commandExecution':
      return { command: readShellScript(getString(item, 'command') ?? '') };
    case 'fileChange':
      return { changes: getArray(item, 'changes') };
    case 'mcpToolCall':
    case 'dynamicToolCall':
      return getField(item, 'arguments');
    case 'webSearch':
      return { query: getField(item, 'query'), action: getField(item, 'action') };
    case 'imageView':
      return { path: getField(item, 'path') };
    default:
      return { prompt: getField(item, 'prompt') };
  }
}

function readDiff(item: object): FileDiff[] {
  return getArray(item, 'changes')
    .filter(isRecord)
    .flatMap((change) => {
      const path = getName(change, 'path');
      const patch = getString(change, 'diff');
      return path === null ? [] : [{ path, ...(patch === null ? undefined : { patch }) }];
    });
}

/** Returns why the call failed, or null if it did not. */
function findFailure(item: object, exitCode: number | null): string | null {
  const error = getString(getObject(item, 'error') ?? {}, 'message');
  if (error !== null) return error;
  const status = getString(item, 'status');
  if (status !== 'failed' && status !== 'declined') return null;
  const result = getObject(item, 'result');
  const texts = result === null ? [] : getArray(result, 'content').filter(isRecord);
  const text = boundMessage(texts.map((part) => getString(part, 'text') ?? '').join('\n'));
  if (text !== '') return text;
  return exitCode === null ? status : `${status} with exit code ${exitCode}`;
}
