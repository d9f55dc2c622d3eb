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
import { readRpcMessage, resultFields } from '../json-rpc.js';
import type { RpcId, RpcMessage } from '../json-rpc.js';
import type { Report } from '../report.js';
import { AppServerItems } from './app-server-items.js';
import { isApproval, readApproval, readApprovalAnswer } from './approval.js';

/** Requests of one side that may be open at once; a hostile agent could ask without end. */
const MAX_OPEN = 1024;

/** Methods of the protocol that begin like these are the app server's. */
const METHOD =
  /^(?:thread|turn|item|account|mcpServer|model|hook|serverRequest|remoteControl)\/|^(?:initialized?|error|warning)$/u;

/** Estimates the confidence that a value is a message of `codex app-server`, which leaves out `jsonrpc`. */
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
      return getObject(resultFields(message.result), 'thread') === null ? 0 : 0.9;
    case 'error':
      return 0;
  }
}

/** The thread a message is about. */
export function readAppServerSession(value: object): string | null {
  const message = readRpcMessage(value);
  if (message?.kind !== 'result') return null;
  const thread = getObject(resultFields(message.result), 'thread');
  return thread === null ? null : getName(thread, 'id');
}

interface OpenQuestion {
  readonly method: string;
  /** Null where it is not about a permission. */
  readonly interaction: string | null;
}

/** Reads both directions of a conversation with `codex app-server`. */
export class AppServerReader {
  readonly #report: Report;
  readonly #items: AppServerItems;
  /** Methods that were asked of the server and not answered. */
  readonly #sent = new Map<RpcId, string>();
  readonly #asked = new Map<RpcId, OpenQuestion>();
  /** The thread of the agent itself; sub-agents have threads too. */
  #thread: string | null = null;
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
      this.#keepRest(message);
      this.#readPrinted(message);
    }
    return true;
  }

  /** Keeps the fields of a message that no event was made from. */
  #keepRest(message: RpcMessage): void {
    if (message.kind === 'result') {
      const result = resultFields(message.result);
      const thread = getObject(result, 'thread');
      this.#report.keepRest(result, USED_RESULT, 'result');
      if (thread !== null) this.#report.keepRest(thread, USED_THREAD, 'result.thread');
    } else if (message.kind !== 'error') {
      const { params } = message;
      this.#report.keepRest(params, USED_PARAMS, 'params');
      for (const place of ['item', 'turn', 'thread'] as const) {
        const part = getObject(params, place);
        if (part !== null) this.#report.keepRest(part, USED_PARTS[place], `params.${place}`);
      }
    }
  }

  #readSent(message: RpcMessage): void {
    this.#hasSent = true;
    switch (message.kind) {
      case 'request': {
        keepBounded(this.#sent, message.id, message.method);
        if (message.method !== 'turn/start') return this.#report.noise();
        this.#thread = getName(message.params, 'threadId') ?? this.#thread;
        this.#report.turnStarted();
        // A later turn of the same process opens no thread: nothing else names it.
        this.#report.session(this.#thread);
        return this.#report.status({ status: 'turn/start' });
      }
      case 'notification':
        return this.#report.noise();
      case 'result':
      case 'error': {
        const asked = message.id === null ? undefined : this.#asked.get(message.id);
        if (asked === undefined || message.id === null) return this.#report.noise();
        this.#asked.delete(message.id);
        if (asked.interaction === null) return this.#report.status({ status: `${asked.method} refused` });
        return this.#report.permissionReplied(asked.interaction, readApprovalAnswer(message));
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
        return this.#readResult(this.#takeSent(message.id), resultFields(message.result), message.id);
      case 'error': {
        const method = message.id === null ? undefined : this.#takeSent(message.id);
        const text = `Codex refused ${method ?? 'a request'}: ${getString(message.error, 'message') ?? 'unknown error'}`;
        this.#report.engineError({ message: text });
        return this.#report.runtimeError(text);
      }
    }
  }

  #takeSent(id: RpcId): string | undefined {
    const method = this.#sent.get(id);
    this.#sent.delete(id);
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
      this.#thread = getName(thread, 'id') ?? this.#thread;
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
    const isRepeated = this.#asked.has(id);
    if (isApproval(method)) {
      const item = getName(params, 'itemId');
      const question = readApproval(method, params, item === null ? null : this.#items.describe(item));
      if (question === null) return report.unparsed('MALFORMED_RECORD', 'A permission request does not name its item.');
      // Carries what else the request says.
      report.status({ status: method });
      keepBounded(this.#asked, id, { method, interaction: report.permissionRequired(question) });
    } else {
      keepBounded(this.#asked, id, { method, interaction: null });
      report.status({ status: method, detail: params });
    }
    if (!isRepeated) return;
    const message = `The agent used the id ${JSON.stringify(id)} for another request while the first is open.`;
    report.warning('MALFORMED_RECORD', message, { subject: String(id) });
  }

  #readNotification(method: string, params: object): void {
    const report = this.#report;
    const thread = getName(params, 'threadId');
    // The words and actions of a sub-agent are not the agent's answer.
    if (thread !== null && this.#thread !== null && thread !== this.#thread)
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
      case 'thread/started': {
        const started = getObject(params, 'thread');
        return report.status({ status: method, session_id: started === null ? null : getName(started, 'id') });
      }
      default:
        return report.status({ status: method, detail: params });
    }
  }

  /** Codex says this of every request that is settled; of one that is open it does not want the answer any more. */
  #readResolved(id: unknown): void {
    const isId = typeof id === 'string' || typeof id === 'number';
    const asked = isId ? this.#asked.get(id) : undefined;
    if (!isId || asked === undefined) return this.#report.noise();
    this.#asked.delete(id);
    if (asked.interaction === null) return this.#report.noise();
    const why = 'The agent withdrew its question.';
    this.#report.permissionReplied(asked.interaction, { decision: 'deny', optionId: 'decline', by: 'rule', why });
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
 * Fields that events are made from; the times are those of the events.
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

/** Codex says with an error what kind it is, and the HTTP status where there was one. */
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

/** The tokens of the thread so far. */
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

/** Keeps an entry, and forgets the oldest where there are too many. */
function keepBounded<Value>(map: Map<RpcId, Value>, id: RpcId, value: Value): void {
  map.set(id, value);
  const [oldest] = map.keys();
  if (oldest !== undefined && map.size > MAX_OPEN) map.delete(oldest);
}
