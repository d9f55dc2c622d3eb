import type { FileDiff } from '../../protocol/event-parts.js';
import { BoundedMap } from '../../reading/bounded-map.js';
import { get, toNames } from '../../reading/record-fields.js';
import type { Emit, ToolCall } from '../fact.js';
import { describeCall, endCall } from './codex-items.js';
import { readShellScript } from './approval.js';

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
    const call = { ...describeCall(toExecType(type), id, known), ...(diff.length === 0 ? undefined : { diff }) };
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

/** The name of a kind of call in the output of `codex exec`. */
function toExecType(type: string): string {
  return type === 'imageView' ? 'view_image' : toSnakeCase(type);
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
