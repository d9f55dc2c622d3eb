import type { JsonFrame } from '../../framing/frame.js';
import type { Usage } from '../../protocol/event-parts.js';
import { readPlan } from '../../reading/read-plan.js';
import {
  getArray,
  getBoolean,
  getCount,
  getField,
  isRecord,
  getName,
  getObject,
  getString,
} from '../../reading/record-fields.js';
import { readRpcMessage, getResultFields } from '../json-rpc.js';
import type { RpcId, RpcMessage } from '../json-rpc.js';
import type { Report } from '../report.js';
import { AppServerItems } from './app-server-items.js';
import { isApproval, readApproval, readApprovalAnswer } from './approval.js';

/** Limit on open requests per side; a malicious agent could send them endlessly. */
const MAX_OPEN = 1024;

/** The methods of the app server. */
const METHOD =
  /^(?:thread|turn|item|account|mcpServer|model|hook|serverRequest|remoteControl)\/|^(?:initialized?|error|warning)$/u;

/** Estimates the confidence that a value is a message of `codex app-server`, which omits `jsonrpc`. */
export function detectAppServer(value: object): number {
  if (getField(value, 'jsonrpc') !== undefined) return 0;
  const message = readRpcMessage(value);
  if (message === null) return 0;
  switch (message.kind) {
    case 'request':
    case 'notification':
      if (!METHOD.test(message.method)) return 0;
      return getName(message.params, 'threadId') === null ? 0.5 : 1;
    case 'result':
      return getObject(getResultFields(message.result), 'thread') === null ? 0 : 0.9;
    case 'error':
      return 0;
  }
}

/** Returns the thread id in a response. */
export function readAppServerSession(value: object): string | null {
  const message = readRpcMessage(value);
  if (message?.kind !== 'result') return null;
  const thread = getObject(getResultFields(message.result), 'thread');
  return thread === null ? null : getName(thread, 'id');
}

interface AgentRequest {
  readonly method: string;
  /** Null if it is not a permission request. */
  readonly interaction: string | null;
}

/** Reads both directions of a conversation with `codex app-server`. */
export class AppServerReader {
  readonly #report: Report;
  readonly #items: AppServerItems;
  /** Methods of the requests that the server has not answered yet. */
  readonly #sentMethods = new Map<RpcId, string>();
  readonly #agentRequests = new Map<RpcId, AgentRequest>();
  /** The thread of the agent itself; sub-agents have threads too. */
  #mainThread: string | null = null;
  #hasSent = false;

  constructor(report: Report) {
    this.#report = report;
    this.#items = new AppServerItems(report);
  }

  /** Reads a message; false if the value is not one. */
  read(frame: JsonFrame): boolean {
    const message = readRpcMessage(frame.value);
    if (message === null) return false;
    if (frame.stream === 'stdin') this.#readSent(message);
    else {
      this.#keepUnusedFields(message);
      this.#readPrinted(message);
    }
    return true;
  }

  /** Adds the message fields that no event contains to its event as details. */
  #keepUnusedFields(message: RpcMessage): void {
    if (message.kind === 'result') {
      const result = getResultFields(message.result);
      const thread = getObject(result, 'thread');
      this.#report.keepUnusedFields(result, USED_RESULT, 'result');
      if (thread !== null) this.#report.keepUnusedFields(thread, USED_THREAD, 'result.thread');
    } else if (message.kind !== 'error') {
      const { params } = message;
      this.#report.keepUnusedFields(params, USED_PARAMS, 'params');
      for (const name of ['item', 'turn', 'thread'] as const) {
        const part = getObject(params, name);
        if (part !== null) this.#report.keepUnusedFields(part, USED_PARTS[name], `params.${name}`);
      }
    }
  }

  #readSent(message: RpcMessage): void {
    this.#hasSent = true;
    switch (message.kind) {
      case 'request': {
        addBounded(this.#sentMethods, message.id, message.method);
        if (message.method !== 'turn/start') return this.#report.noise();
        this.#mainThread = getName(message.params, 'threadId') ?? this.#mainThread;
        this.#report.turnStarted();
        // Later turns in the same process do not open a thread, so only this request names it.
        this.#report.session(this.#mainThread);
        return this.#report.status({ status: 'turn/start' });
      }
      case 'notification':
        return this.#report.noise();
      case 'result':
      case 'error': {
        const request = message.id === null ? undefined : this.#agentRequests.get(message.id);
        if (request === undefined || message.id === null) return this.#report.noise();
        this.#agentRequests.delete(message.id);
        if (request.interaction === null) {
          if (message.kind === 'result') return this.#report.noise();
          return this.#report.status({ status: `${request.method} refused` });
        }
        return this.#report.permissionReplied(request.interaction, readApprovalAnswer(message));
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
        return this.#readResult(this.#takeSent(message.id), getResultFields(message.result), message.id);
      case 'error': {
        const method = message.id === null ? undefined : this.#takeSent(message.id);
        const text = `Codex refused ${method ?? 'a request'}: ${getString(message.error, 'message') ?? 'unknown error'}`;
        this.#report.engineError({ message: text });
        return this.#report.runtimeError(text);
      }
    }
  }

  #takeSent(id: RpcId): string | undefined {
    const method = this.#sentMethods.get(id);
    this.#sentMethods.delete(id);
    return method;
  }

  #readResult(method: string | undefined, result: object, id: RpcId): void {
    const report = this.#report;
    const thread = getObject(result, 'thread');
    if (method === undefined && this.#hasSent) {
      const why = `Codex answered ${JSON.stringify(id)}, which is not an open request.`;
      return report.unparsed('MALFORMED_RECORD', why);
    }
    if (thread !== null) {
      this.#mainThread = getName(thread, 'id') ?? this.#mainThread;
      report.engineVersion(getName(thread, 'cliVersion'));
      return report.status({
        status: method ?? 'thread',
        session_id: getName(thread, 'id'),
        model: getName(result, 'model'),
      });
    }
    report.status({ status: method ?? 'answer' });
  }

  #readRequest(id: RpcId, method: string, params: object): void {
    const report = this.#report;
    const isRepeated = this.#agentRequests.has(id);
    if (isApproval(method)) {
      const item = getName(params, 'itemId');
      const question = readApproval(method, params, item === null ? null : this.#items.describe(item));
      if (question === null) return report.unparsed('MALFORMED_RECORD', 'A permission request does not name its item.');
      // The request's other fields become this event's detail.
      report.status({ status: method });
      addBounded(this.#agentRequests, id, { method, interaction: report.permissionRequired(question) });
    } else {
      addBounded(this.#agentRequests, id, { method, interaction: null });
      report.status({ status: method, detail: params });
    }
    if (!isRepeated) return;
    const message = `The agent used the id ${JSON.stringify(id)} for another request before the first was answered.`;
    report.warning('MALFORMED_RECORD', message, { subject: String(id) });
  }

  #readNotification(method: string, params: object): void {
    const report = this.#report;
    // `thread/started` names its thread in another field.
    const thread = getName(params, 'threadId') ?? getName(getObject(params, 'thread') ?? {}, 'id');
    // A sub-agent's messages and calls are not the agent's answer, and its thread is not the session.
    if (thread !== null && this.#mainThread !== null && thread !== this.#mainThread)
      return report.status({ status: method, reason: 'another thread' });
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
        const steps = getArray(params, 'plan').filter(isRecord);
        return report.plan(
          readPlan(
            steps.map((step) => ({
              content: getString(step, 'step'),
              status: getString(step, 'status') === 'inProgress' ? 'in_progress' : getString(step, 'status'),
            })),
          ),
        );
      }
      case 'thread/tokenUsage/updated':
        return report.status({ status: method, usage: readUsage(params) });
      case 'serverRequest/resolved':
        return this.#readResolved(getField(params, 'requestId'));
      case 'error':
        return this.#readError(params);
      case 'turn/completed':
        return this.#readTurnEnd(params);
      case 'thread/started':
        this.#mainThread ??= thread;
        return report.status({ status: method, session_id: thread });
      default:
        return report.status({ status: method, detail: params });
    }
  }

  /** Printed for every resolved request; if the request is still open, Codex no longer needs a response. */
  #readResolved(id: unknown): void {
    const isId = typeof id === 'string' || typeof id === 'number';
    const request = isId ? this.#agentRequests.get(id) : undefined;
    if (!isId || request === undefined) return this.#report.noise();
    this.#agentRequests.delete(id);
    if (request.interaction === null) return this.#report.noise();
    const why = 'The agent withdrew its permission request.';
    this.#report.permissionReplied(request.interaction, { decision: 'deny', optionId: 'decline', by: 'rule', why });
  }

  #readError(params: object): void {
    const error = getObject(params, 'error') ?? {};
    const message = getString(error, 'message') ?? 'unknown error';
    const isRetried = getBoolean(params, 'willRetry') === true;
    this.#report.engineError({ message, ...(isRetried ? { retrying: true } : undefined), ...readErrorInfo(error) });
  }

  #readTurnEnd(params: object): void {
    const report = this.#report;
    const turn = getObject(params, 'turn') ?? {};
    const status = getString(turn, 'status');
    this.#items.endTurn();
    report.status({ status: 'turn/completed', reason: status });
    if (status === 'completed') return report.endSignal('CODEX_TURN_COMPLETED');
    if (status !== 'failed') return;
    const error = getObject(turn, 'error') ?? {};
    const message = getString(error, 'message') ?? 'The turn failed.';
    report.engineError({ message, ...readErrorInfo(error) });
    report.runtimeError(message);
  }
}

/*
 * Fields that are already in events, and times, which match the event times.
 */
const USED_RESULT: ReadonlySet<string> = new Set(['thread', 'model']);
const USED_THREAD: ReadonlySet<string> = new Set(['id', 'cliVersion', 'createdAt', 'updatedAt', 'recencyAt', 'turns']);
const USED_PARAMS: ReadonlySet<string> = new Set([
  'threadId',
  'turnId',
  'itemId',
  'item',
  'turn',
  'thread',
  'delta',
  'plan',
  'tokenUsage',
  'error',
  'startedAtMs',
  'completedAtMs',
]);
const USED_PARTS = {
  item: new Set(['id', 'type', 'text', 'summary', 'content', 'changes', 'aggregatedOutput', 'arguments', 'result']),
  turn: new Set(['id', 'status', 'error', 'items', 'startedAt', 'completedAt']),
  thread: USED_THREAD,
} as const;

/** Reads an error's kind, and its HTTP status if present. */
function readErrorInfo(error: object): { readonly httpStatus?: number; readonly detail?: unknown } {
  const info = getField(error, 'codexErrorInfo');
  const kinds: readonly unknown[] = isRecord(info) ? Object.values(info) : [];
  const kind = kinds[0];
  const status = isRecord(kind) ? getCount(kind, 'httpStatusCode') : null;
  return {
    ...(status === null ? undefined : { httpStatus: status }),
    ...(info === null || info === undefined ? undefined : { detail: { codexErrorInfo: info } }),
  };
}

/** Reads the thread's token counts so far. */
function readUsage(params: object): Usage | null {
  const usage = getObject(params, 'tokenUsage');
  const total = usage === null ? null : getObject(usage, 'total');
  if (total === null) return null;
  return {
    scope: 'total',
    input_tokens: getCount(total, 'inputTokens') ?? 0,
    output_tokens: getCount(total, 'outputTokens') ?? 0,
    cached_input_tokens: getCount(total, 'cachedInputTokens') ?? 0,
    cache_write_tokens: getCount(total, 'cacheWriteInputTokens') ?? 0,
    reasoning_tokens: getCount(total, 'reasoningOutputTokens') ?? 0,
  };
}

/** Adds an entry, and removes the oldest if the limit is exceeded. */
function addBounded<Value>(map: Map<RpcId, Value>, id: RpcId, value: Value): void {
  map.set(id, value);
  const [oldest] = map.keys();
  if (oldest !== undefined && map.size > MAX_OPEN) map.delete(oldest);
}
