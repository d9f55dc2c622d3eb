import type { JsonFrame } from '../../framing/frame.js';
import type { Usage } from '../../protocol/event-parts.js';
import { BoundedMap } from '../../reading/bounded-map.js';
import { readPlan } from '../../reading/read-plan.js';
import { get, isRecord, joinTextContent, toNames } from '../../reading/record-fields.js';
import { readRpcMessage, getResultFields, warnReusedId, denyWithdrawn, MAX_OPEN_REQUESTS } from '../json-rpc.js';
import type { RpcId, RpcMessage } from '../json-rpc.js';
import type { Emit, EngineError } from '../fact.js';
import { AppServerItems } from './codex-items.js';
import { isApproval, readApproval, readApprovalAnswer } from './approval.js';

const METHOD =
  /^(?:thread|turn|item|account|mcpServer|model|hook|serverRequest|remoteControl)\/|^(?:initialized?|error|warning)$/u;

/** Estimates the confidence that a value is a message of `codex app-server`, which omits `jsonrpc`. */
export function detectAppServer(value: object): number {
  if (get.field(value, 'jsonrpc') !== undefined) return 0;
  const message = readRpcMessage(value);
  if (message === null) return 0;
  if (message.kind === 'error') return 0;
  if (message.kind === 'result') return get.object(getResultFields(message.result), 'thread') === null ? 0 : 0.9;
  if (!METHOD.test(message.method)) return 0;
  return get.name(message.params, 'threadId') === null ? 0.5 : 1;
}

export function readAppServerSession(value: object): string | null {
  const message = readRpcMessage(value);
  if (message?.kind !== 'result') return null;
  return get.name(get.object(getResultFields(message.result), 'thread'), 'id');
}

/** Reads both directions of a conversation with `codex app-server`. */
export class AppServerReader {
  readonly #emit: Emit;
  readonly #items: AppServerItems;
  readonly #sentMethods = new BoundedMap<RpcId, string>(MAX_OPEN_REQUESTS);
  /** The methods of the agent's open requests. */
  readonly #agentRequests = new BoundedMap<RpcId, string>(MAX_OPEN_REQUESTS);
  /** The thread of the agent itself; sub-agents have threads too. */
  #mainThread: string | null = null;
  #hasSent = false;

  constructor(emit: Emit) {
    this.#emit = emit;
    this.#items = new AppServerItems(emit);
  }

  /** Reads a message; false if the value is not one. */
  read(frame: JsonFrame): boolean {
    const message = readRpcMessage(frame.value);
    if (message === null) return false;
    if (frame.stream === 'stdin') this.#readSent(message);
    else {
      this.#emit({ fact: 'record', record: frame.value, isWhole: true });
      this.#keepUnusedFields(message);
      this.#readPrinted(message);
    }
    return true;
  }

  /** Adds the message fields that no event contains to its event as details. */
  #keepUnusedFields(message: RpcMessage): void {
    if (message.kind === 'result') {
      const result = getResultFields(message.result);
      const thread = get.object(result, 'thread');
      this.#emit({ fact: 'record', record: result, used: USED_RESULT, path: 'result' });
      if (thread !== null) this.#emit({ fact: 'record', record: thread, used: USED_THREAD, path: 'result.thread' });
    } else if (message.kind !== 'error') {
      const { params } = message;
      this.#emit({ fact: 'record', record: params, used: USED_PARAMS, path: 'params' });
      for (const name of ['item', 'turn', 'thread'] as const) {
        const part = get.object(params, name);
        if (part !== null) this.#emit({ fact: 'record', record: part, used: USED_PARTS[name], path: `params.${name}` });
      }
    }
  }

  #readSent(message: RpcMessage): void {
    this.#hasSent = true;
    switch (message.kind) {
      case 'request': {
        this.#sentMethods.set(message.id, message.method);
        if (message.method !== 'turn/start') return this.#emit({ fact: 'noise' });
        this.#mainThread = get.name(message.params, 'threadId') ?? this.#mainThread;
        this.#emit({ fact: 'turn_started' });
        // Later turns in the same process do not open a thread, so only this request names it.
        this.#emit({ fact: 'session', id: this.#mainThread });
        const prompt = joinTextContent(get.array(message.params, 'input'));
        return this.#emit({
          fact: 'status',
          status: 'turn/start',
          ...(prompt === '' ? undefined : { message: prompt }),
        });
      }
      case 'notification':
        return this.#emit({ fact: 'noise' });
      case 'result':
      case 'error': {
        const method = message.id === null ? undefined : this.#agentRequests.take(message.id);
        if (method === undefined || message.id === null) return this.#emit({ fact: 'noise' });
        if (isApproval(method))
          return this.#emit({ fact: 'permission_replied', request: message.id, ...readApprovalAnswer(message) });
        if (message.kind === 'result') return this.#emit({ fact: 'noise' });
        return this.#emit({ fact: 'status', status: `${method} refused` });
      }
    }
  }

  #readPrinted(message: RpcMessage): void {
    switch (message.kind) {
      case 'request':
        return this.#readRequest(message.id, message.method, message.params);
      case 'notification':
        return this.#readNotification(message.method, message.params);
      case 'result':
        return this.#readResult(this.#sentMethods.take(message.id), getResultFields(message.result), message.id);
      case 'error': {
        const method = message.id === null ? undefined : this.#sentMethods.take(message.id);
        const text = `Codex refused ${method ?? 'a request'}: ${get.string(message.error, 'message') ?? 'unknown error'}`;
        this.#emit({ fact: 'error', message: text });
        return this.#emit({ fact: 'failure', message: text });
      }
    }
  }

  #readResult(method: string | undefined, result: object, id: RpcId): void {
    const emit = this.#emit;
    const thread = get.object(result, 'thread');
    if (method === undefined && this.#hasSent) {
      const why = `Codex answered ${JSON.stringify(id)}, which is not an open request.`;
      return emit({ fact: 'malformed', why });
    }
    if (thread !== null) {
      this.#mainThread = get.name(thread, 'id') ?? this.#mainThread;
      emit({ fact: 'version', version: get.name(thread, 'cliVersion') });
      return emit({
        fact: 'status',
        status: method ?? 'thread',
        session_id: get.name(thread, 'id'),
        model: get.name(result, 'model'),
      });
    }
    emit({ fact: 'status', status: method ?? 'answer' });
  }

  #readRequest(id: RpcId, method: string, params: object): void {
    const emit = this.#emit;
    const isRepeated = this.#agentRequests.has(id);
    if (isApproval(method)) {
      const item = get.name(params, 'itemId');
      const question = readApproval(method, params, item === null ? null : this.#items.describe(item));
      if (question === null) return emit({ fact: 'malformed', why: 'A permission request does not name its item.' });
      // The request's other fields become this event's detail.
      emit({ fact: 'status', status: method });
      emit({ fact: 'permission_required', request: id, ...question });
    } else emit({ fact: 'status', status: method, detail: params });
    this.#agentRequests.set(id, method);
    if (isRepeated) warnReusedId(id, emit);
  }

  #readNotification(method: string, params: object): void {
    const emit = this.#emit;
    // `thread/started` names its thread in another field.
    const thread = get.name(params, 'threadId') ?? get.name(get.object(params, 'thread'), 'id');
    // A sub-agent's messages and calls are not the agent's answer, and its thread is not the session.
    if (thread !== null && this.#mainThread !== null && thread !== this.#mainThread)
      return emit({ fact: 'status', status: method, reason: 'another thread' });
    switch (method) {
      case 'item/started':
      case 'item/completed':
        return this.#items.read(method === 'item/started' ? 'started' : 'completed', params);
      case 'item/agentMessage/delta':
        return this.#items.readDelta('message', params);
      case 'item/reasoning/textDelta':
      case 'item/reasoning/summaryTextDelta':
        return this.#items.readDelta('reasoning', params);
      case 'turn/plan/updated': {
        const steps = get.records(params, 'plan').map((step) => {
          const status = get.string(step, 'status');
          return { content: get.string(step, 'step'), status: status === 'inProgress' ? 'in_progress' : status };
        });
        return emit({ fact: 'plan', entries: readPlan(steps) });
      }
      case 'thread/tokenUsage/updated':
        return emit({ fact: 'status', status: method, usage: readUsage(params) });
      case 'serverRequest/resolved':
        return this.#readResolved(get.field(params, 'requestId'));
      case 'error':
        return this.#readError(params);
      case 'turn/completed':
        return this.#readTurnEnd(params);
      case 'thread/started':
        this.#mainThread ??= thread;
        return emit({ fact: 'status', status: method, session_id: thread });
      default:
        return emit({ fact: 'status', status: method, detail: params });
    }
  }

  /** Printed for every resolved request; if the request is still open, Codex no longer needs a response. */
  #readResolved(id: unknown): void {
    this.#emit({ fact: 'status', status: 'serverRequest/resolved' });
    if (typeof id !== 'string' && typeof id !== 'number') return;
    const method = this.#agentRequests.take(id);
    if (method !== undefined && isApproval(method)) denyWithdrawn(id, 'decline', this.#emit);
  }

  #readError(params: object): void {
    const error = get.object(params, 'error');
    const message = readErrorText(error) ?? '';
    this.#emit({
      fact: 'error',
      message,
      retrying: get.boolean(params, 'willRetry') === true,
      ...readErrorInfo(error),
    });
  }

  #readTurnEnd(params: object): void {
    const emit = this.#emit;
    const turn = get.object(params, 'turn');
    const status = get.string(turn, 'status');
    this.#items.endTurn();
    emit({ fact: 'status', status: 'turn/completed', reason: status });
    if (status === 'completed') return emit({ fact: 'end_signal', signal: 'CODEX_TURN_COMPLETED' });
    if (status !== 'failed') return;
    const error = get.object(turn, 'error');
    const message = readErrorText(error) ?? '';
    emit({ fact: 'error', message, ...readErrorInfo(error) });
    emit({ fact: 'failure', message });
  }
}

/*
 * Fields that are already in events, and times, which match the event times.
 */
const USED_RESULT = toNames('thread model');
const USED_THREAD = toNames('id cliVersion createdAt updatedAt recencyAt turns');
const USED_PARAMS = toNames(
  'threadId turnId itemId item turn thread delta plan tokenUsage error startedAtMs completedAtMs',
);
const USED_PARTS = {
  item: toNames('id type text summary content changes aggregatedOutput arguments result'),
  turn: toNames('id status error items startedAt completedAt'),
  thread: USED_THREAD,
} as const;

/** Returns an error's message; if it is empty, its details have the text. */
function readErrorText(error: object | null): string | null {
  return get.name(error, 'message') ?? get.name(error, 'additionalDetails');
}

function readErrorInfo(error: object | null): Pick<EngineError, 'httpStatus' | 'detail'> {
  const info = get.field(error, 'codexErrorInfo') ?? null;
  const kind: unknown = isRecord(info) ? Object.values(info)[0] : null;
  const httpStatus = isRecord(kind) ? get.count(kind, 'httpStatusCode') : null;
  return { httpStatus, detail: info === null ? undefined : { codexErrorInfo: info } };
}

/** Reads the thread's token counts so far. */
function readUsage(params: object): Usage | null {
  const total = get.object(get.object(params, 'tokenUsage'), 'total');
  if (total === null) return null;
  return {
    scope: 'total',
    input_tokens: get.count(total, 'inputTokens') ?? 0,
    output_tokens: get.count(total, 'outputTokens') ?? 0,
    cached_input_tokens: get.count(total, 'cachedInputTokens') ?? 0,
    cache_write_tokens: get.count(total, 'cacheWriteInputTokens') ?? 0,
    reasoning_tokens: get.count(total, 'reasoningOutputTokens') ?? 0,
    total_tokens: get.count(total, 'totalTokens') ?? 0,
  };
}
