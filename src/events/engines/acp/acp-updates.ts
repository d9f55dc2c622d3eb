import type { JsonFrame } from '../../framing/frame.js';
import type { FileDiff, Usage } from '../../protocol/event-parts.js';
import { MAX_MESSAGE_LENGTH } from '../../reading/text-answer.js';
import { readPlan } from '../../reading/read-plan.js';
import { get, isRecord, toUsage } from '../../reading/record-fields.js';
import { BoundedSet } from '../../reading/bounded-map.js';
import type { Emit, ToolCall } from '../fact.js';

/** Limit on open calls, and on ended calls, since an agent can repeat them; beyond it, the oldest is dropped. */
const MAX_CALLS = 4096;

interface OpenText {
  readonly kind: 'message' | 'thought';
  /** The agent's id for it; most agents do not send one. */
  readonly key: string | null;
  readonly id: string;
  readonly first: JsonFrame;
  last: JsonFrame;
  text: string;
}

/** Reads session updates: messages, thoughts, tool calls, plans and usage. */
export class AcpUpdates {
  readonly #emit: Emit;
  #openText: OpenText | null = null;
  #thoughts = 0;
  readonly #open = new BoundedSet<string>(MAX_CALLS);
  readonly #endedCalls = new BoundedSet<string>(MAX_CALLS);
  /** The error messages of denied calls, since some agents never report that such a call ended. */
  readonly #deniedCalls = new Map<string, string>();
  #hasStepUsage = false;
  #cost: number | null = null;
  #chargedCost = 0;

  constructor(emit: Emit) {
    this.#emit = emit;
  }

  startTurn(): void {
    this.#hasStepUsage = false;
  }

  read(kind: string, update: object, frame: JsonFrame): void {
    switch (kind) {
      case 'agent_message_chunk':
        return this.#readText('message', update, frame);
      case 'agent_thought_chunk':
        return this.#readText('thought', update, frame);
      case 'tool_call':
      case 'tool_call_update':
        this.close(frame);
        return this.#readCall(kind, update);
      case 'plan':
        this.close(frame);
        return this.#emit({ fact: 'plan', entries: readPlan(get.array(update, 'entries')) });
      case 'usage_update': {
        const amount = get.number(get.object(update, 'cost'), 'amount');
        if (amount !== null && amount >= 0) this.#cost = amount;
        return this.#emit({ fact: 'status', status: kind, detail: update });
      }
      case 'available_commands_update':
      case 'current_mode_update':
      case 'config_option_update':
      case 'session_info_update':
      case 'user_message_chunk':
        return this.#emit({ fact: 'status', status: kind, detail: update });
      default:
        return this.#emit({ fact: 'unknown_type', type: `session/update ${kind}` });
    }
  }

  /** Completes the open message or thought, because something else follows. */
  close(frame: JsonFrame): void {
    const open = this.#openText;
    if (open === null) return;
    this.#openText = null;
    this.#emit({ fact: 'frames', first: open.first, last: open.last });
    if (open.kind === 'message') this.#emit({ fact: 'message_end', key: open.id });
    else this.#emit({ fact: 'reasoning', text: open.text, id: open.id });
    this.#emit({ fact: 'frames', first: frame, last: frame });
  }

  deny(callId: string, why: string | undefined): void {
    if (!this.#open.has(callId)) return;
    this.#deniedCalls.set(callId, why === undefined ? 'Permission denied.' : `Permission denied: ${why}`);
  }

  /** Ends the turn: a denied call whose end the agent never reported (Gemini CLI) counts as failed. */
  endTurn(): void {
    for (const [id, error] of this.#deniedCalls) {
      if (this.#open.has(id)) this.#emit({ fact: 'tool_failed', id, error });
      this.#end(id);
    }
    this.#deniedCalls.clear();
  }

  /** Returns a turn's usage with its cost. After usage per step, only the cost is new. */
  completeUsage(turn: Usage | null): Usage | null {
    const cost = this.#cost === null ? null : Math.max(0, this.#cost - this.#chargedCost);
    if (this.#cost !== null) this.#chargedCost = this.#cost;
    const turnUsage = this.#hasStepUsage ? null : turn;
    if (cost === null || cost === 0) return turnUsage;
    return { ...(turnUsage ?? { scope: 'turn', input_tokens: 0, output_tokens: 0 }), cost };
  }

  #readText(kind: OpenText['kind'], update: object, frame: JsonFrame): void {
    const emit = this.#emit;
    const content = get.object(update, 'content');
    const text = get.string(content, 'text');
    const usage = readUsage(get.object(get.object(update, '_meta'), 'usage'));
    if (usage !== null) {
      // Qwen Code reports the usage of each step with an empty message chunk.
      this.#hasStepUsage = true;
      emit({ fact: 'status', status: 'usage', usage });
    }
    if (text === null) return emit({ fact: 'status', status: `${kind} block`, detail: content });
    if (text === '') return usage === null ? emit({ fact: 'status', status: `empty ${kind} chunk` }) : undefined;
    const key = get.name(update, 'messageId');
    if (this.#openText !== null && !isContinuation(this.#openText, kind, key)) this.close(frame);
    this.#openText ??= { kind, key, id: this.#nextId(kind, key), first: frame, last: frame, text: '' };
    const open = this.#openText;
    open.last = frame;
    if (kind === 'message') {
      // The emit collects message text; only the text of thoughts is needed here.
      open.text = '';
      return emit({ fact: 'delta', text, key: open.id });
    }
    open.text += text;
    emit({ fact: 'reasoning', text, id: open.id, partial: true });
    if (open.text.length > MAX_MESSAGE_LENGTH) this.close(frame);
  }

  #nextId(kind: OpenText['kind'], key: string | null): string {
    if (kind === 'message') return key ?? '';
    this.#thoughts += 1;
    return `thought_${this.#thoughts}`;
  }

  #readCall(kind: string, update: object): void {
    const emit = this.#emit;
    const id = get.name(update, 'toolCallId');
    if (id === null) return emit({ fact: 'malformed', why: `A ${kind} has no toolCallId.` });
    if (this.#endedCalls.has(id)) return emit({ fact: 'status', status: `${kind} after its end`, detail: update });
    const call = readCall(id, update);
    const status = get.name(update, 'status');
    if (status === 'completed' || status === 'failed') {
      const isOpen = this.#open.has(id);
      this.#end(id);
      // Written out, because spreading costs more than all other work.
      const { name = null, input, diff, paths } = call;
      const output = readOutput(update);
      const end = { id, name, input, diff, paths, output, exitCode: readExitCode(update), startDerived: !isOpen };
      if (status === 'failed') return emit({ fact: 'tool_failed', ...end, error: readFailure(update) });
      return emit(Object.assign(end, { fact: 'tool_completed' as const }));
    }
    this.#open.add(id);
    emit(Object.assign(call, { fact: 'tool_started' as const }));
  }

  /** Marks a call as open, because a permission was requested for it. */
  open(callId: string): void {
    this.#endedCalls.delete(callId);
    this.#open.add(callId);
  }

  #end(id: string): void {
    this.#open.delete(id);
    this.#deniedCalls.delete(id);
    this.#endedCalls.add(id);
  }
}

/** Chunks belong together until the agent names another message. */
function isContinuation(open: OpenText, kind: OpenText['kind'], key: string | null): boolean {
  return open.kind === kind && (key === null || open.key === null || key === open.key);
}

/** Reads token counts. `inputTokens` includes cached tokens for some agents only; it is not adjusted. */
export function readUsage(usage: object | null): Usage | null {
  const input = get.count(usage, 'inputTokens');
  const output = get.count(usage, 'outputTokens');
  if (input === null || output === null) return null;
  return toUsage('turn', {
    input_tokens: input,
    output_tokens: output,
    cached_input_tokens: get.count(usage, 'cachedReadTokens'),
    cache_write_tokens: get.count(usage, 'cachedWriteTokens'),
    reasoning_tokens: get.count(usage, 'thoughtTokens'),
    total_tokens: get.count(usage, 'totalTokens'),
    cost: get.number(usage, 'cost'),
  });
}

/** Reads the details of a call from a `tool_call`, a `tool_call_update` or a permission request. */
export function readCall(id: string, call: object): ToolCall {
  const diff = readDiff(call);
  const locations = get.field(call, 'locations');
  return {
    id,
    name: readName(id, call),
    input: readInput(call),
    diff: diff.length === 0 ? undefined : diff,
    paths:
      locations === undefined
        ? undefined
        : get.records(call, 'locations').flatMap((one) => get.name(one, 'path') ?? []),
  };
}

/**
 * Reads the name of the tool. The protocol has no field for it: some agents add a `name`, some put it into `_meta`. For
 * others, the tool's kind is used, or the title if the kind is unspecific.
 */
function readName(id: string, call: object): string | null {
  const meta = get.object(call, '_meta');
  const claudeMeta = get.object(meta, 'claudeCode');
  const toolName = get.name(call, 'name') ?? get.name(meta, 'toolName') ?? get.name(claudeMeta, 'toolName');
  if (toolName !== null) return toolName;
  const [, nameInId] = id.includes('__') ? (GEMINI_ID.exec(id) ?? []) : [];
  if (nameInId !== undefined) return nameInId;
  const kind = get.name(call, 'kind');
  return kind === null || kind === 'other' ? get.name(call, 'title') : kind;
}

/** Gemini CLI puts the name into the id: `write_file__write_file_1794765461129_0`. */
const GEMINI_ID = /^(\w{1,64}?)__\1_\d+_\d+$/u;

/** Reads the input. An empty input is ignored: agents use it to announce a call and send the actual input later. */
function readInput(call: object): unknown {
  const input = get.field(call, 'rawInput');
  if (input === null || input === undefined) return undefined;
  return isRecord(input) && Object.keys(input).length === 0 ? undefined : input;
}

/** Reads a call's changes: its diff blocks or, in OpenCode's permission requests, a patch in its input. */
function readDiff(call: object): readonly FileDiff[] {
  const diffs: FileDiff[] = [];
  for (const block of get.array(call, 'content')) {
    if (!isRecord(block) || get.field(block, 'type') !== 'diff') continue;
    const path = get.name(block, 'path');
    const newText = get.string(block, 'newText');
    if (path !== null && newText !== null)
      diffs.push({ path, old_text: get.string(block, 'oldText'), new_text: newText });
  }
  const input = get.object(call, 'rawInput');
  if (diffs.length > 0 || input === null) return diffs;
  const patch = get.string(input, 'diff');
  const path = get.name(input, 'filepath') ?? get.name(input, 'filePath');
  return patch === null || path === null ? [] : [{ path, patch }];
}

/** Reads a call's output: the agent's raw output, or its content, as text if all of it is text. */
function readOutput(call: object): unknown {
  const output = get.field(call, 'rawOutput');
  if (output !== null && output !== undefined) return output;
  const contents: (object | null)[] = [];
  let text: string | null = '';
  for (const block of get.array(call, 'content')) {
    if (!isRecord(block) || get.field(block, 'type') !== 'content') continue;
    const content = get.object(block, 'content');
    const part = get.string(content, 'text');
    contents.push(content);
    text = text === null || part === null ? null : text + part;
  }
  return contents.length === 0 ? undefined : (text ?? contents);
}

/** Reads the exit code of a command, if the agent reports it: Codex in `_meta`, OpenCode in its output. */
function readExitCode(call: object): number | null {
  const exit = get.object(get.object(call, '_meta'), 'terminal_exit');
  if (exit !== null) return get.integer(exit, 'exit_code');
  const output = get.object(call, 'rawOutput');
  return get.integer(output, 'exit_code') ?? get.integer(get.object(output, 'metadata'), 'exit');
}

function readFailure(call: object): string {
  const output = readOutput(call);
  if (typeof output === 'string' && output !== '') return output;
  const error = isRecord(output) ? (get.name(output, 'error') ?? get.name(output, 'message')) : null;
  return error ?? 'The tool call failed.';
}
