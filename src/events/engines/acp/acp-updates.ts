import type { JsonFrame } from '../../framing/frame.js';
import type { Usage } from '../../protocol/event-parts.js';
import { MAX_MESSAGE_LENGTH } from '../../reading/line-message.js';
import { readPlan } from '../../reading/read-plan.js';
import { get, toUsage } from '../../reading/record-fields.js';
import { BoundedSet } from '../../reading/bounded-map.js';
import type { Emit } from '../fact.js';
import { readCall, readExitCode, readFailure, readOutput } from './acp-tool-call.js';

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
