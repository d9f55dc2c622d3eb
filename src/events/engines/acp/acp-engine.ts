import { get, joinTextContent, isRecord, toNames } from '../../reading/record-fields.js';
import type { Engine, Reader } from '../engine.js';
import { readRpcMessage, getResultFields, readAuthor, warnReusedId, MAX_OPEN_REQUESTS } from '../json-rpc.js';
import type { RpcId, RpcMessage, RpcResponse } from '../json-rpc.js';
import type { JsonFrame, TextFrame } from '../../framing/frame.js';
import { BoundedMap } from '../../reading/bounded-map.js';
import type { PermissionOption, Emit, PermissionAnswer, PermissionRequest } from '../fact.js';
import { AcpUpdates, readCall, readUsage } from './acp-updates.js';

/**
 * Any agent that implements the Agent Client Protocol over its streams: JSON-RPC, one message per line. The agent's
 * messages are on stdout, messages to it on stdin; both are needed to match responses to requests.
 */
export const acpEngine: Engine = {
  name: 'acp',
  parser: 'acp_jsonrpc',
  parserVersion: '1',
  framing: 'json',
  guarantees: { session: 'early', endSignal: true },
  readsInput: true,
  detect,
  readSession(value) {
    const message = readRpcMessage(value);
    if (message?.kind === 'notification' || message?.kind === 'request') return get.name(message.params, 'sessionId');
    return message?.kind === 'result' ? get.name(getResultFields(message.result), 'sessionId') : null;
  },
  createReader: (emit) => new AcpReader(emit),
};

/** Methods that exist only in this protocol. */
const METHODS: ReadonlySet<string> = new Set(['session/update', 'session/request_permission']);

function detect(value: object): number {
  const message = readRpcMessage(value);
  if (message === null) return 0;
  const isJsonRpc = get.field(value, 'jsonrpc') === '2.0';
  if ('method' in message && METHODS.has(message.method) && get.name(message.params, 'sessionId') !== null) return 1;
  if (!isJsonRpc) return 0;
  const result = message.kind === 'result' ? getResultFields(message.result) : null;
  const isAcp = get.object(result, 'agentCapabilities') !== null || get.string(result, 'stopReason') !== null;
  return isAcp ? 1 : 0.5;
}

interface SentRequest {
  readonly method: string;
  readonly sessionId: string | null;
}

interface AgentRequest {
  readonly method: string;
  /** Null if it is not a permission request. */
  readonly question: { readonly callId: string; readonly options: readonly PermissionOption[] } | null;
}

/** Reads both directions of a conversation over the Agent Client Protocol. */
class AcpReader implements Reader {
  readonly #emit: Emit;
  readonly #updates: AcpUpdates;
  readonly #sentRequests = new BoundedMap<RpcId, SentRequest>(MAX_OPEN_REQUESTS);
  readonly #agentRequests = new BoundedMap<RpcId, AgentRequest>(MAX_OPEN_REQUESTS);
  #hasSent = false;
  /** Whether the agent is repeating the history of a session, before it responds to `session/load`. */
  #isLoading = false;

  constructor(emit: Emit) {
    this.#emit = emit;
    this.#updates = new AcpUpdates(emit);
  }

  json(frame: JsonFrame): void {
    const emit = this.#emit;
    if (frame.stream === 'stderr') return emit({ fact: 'noise' });
    const message = readRpcMessage(frame.value);
    if (message === null)
      return emit({ fact: 'unknown_type', type: get.string(frame.value, 'type') ?? 'value that is not a message' });
    if (frame.stream === 'stdin') this.#readSent(message);
    else this.#readPrinted(message, frame);
  }

  text(frame: TextFrame): void {
    // Agents log to stderr; the other two streams contain only messages.
    if (frame.stream === 'stderr' && frame.problem === null) this.#emit({ fact: 'noise' });
    else this.#emit({ fact: 'unparsed' });
  }

  end(): void {
    this.#updates.endTurn();
  }

  #readSent(message: RpcMessage): void {
    this.#hasSent = true;
    switch (message.kind) {
      case 'request': {
        const { id, method, params } = message;
        const sessionId = get.name(params, 'sessionId');
        this.#sentRequests.set(id, { method, sessionId });
        if (method === 'session/load') this.#isLoading = true;
        if (method !== 'session/prompt') return this.#emit({ fact: 'noise' });
        this.#emit({ fact: 'turn_started' });
        this.#updates.startTurn();
        // Later turns in the same process do not open a session, so only the prompt names it.
        this.#emit({ fact: 'session', id: sessionId });
        const prompt = joinTextContent(get.array(params, 'prompt'));
        return this.#emit({ fact: 'status', status: method, ...(prompt === '' ? undefined : { message: prompt }) });
      }
      case 'notification':
        return this.#emit({ fact: 'status', status: message.method });
      case 'result':
      case 'error':
        return this.#readReply(message);
    }
  }

  #readReply(message: RpcResponse): void {
    const request = message.id === null ? undefined : this.#agentRequests.take(message.id);
    if (request === undefined || message.id === null) return this.#emit({ fact: 'noise' });
    if (request.question !== null) {
      const answer = readPermissionAnswer(message, request.question.options);
      this.#emit({ fact: 'permission_replied', request: message.id, ...answer });
      if (answer.decision === 'deny') this.#updates.deny(request.question.callId, answer.why);
    } else if (message.kind === 'error') {
      this.#emit({ fact: 'status', status: `${request.method} refused`, reason: get.string(message.error, 'message') });
    } else this.#emit({ fact: 'noise' });
  }

  #readPrinted(message: RpcMessage, frame: JsonFrame): void {
    this.#emit({ fact: 'record', record: frame.value, isWhole: true });
    switch (message.kind) {
      case 'notification':
        return this.#readNotification(message.method, message.params, frame);
      case 'request':
        return this.#readRequest(message.id, message.method, message.params, frame);
      case 'result':
      case 'error':
        return this.#readResponse(message, frame);
    }
  }

  #readNotification(method: string, params: object, frame: JsonFrame): void {
    if (method !== 'session/update') return this.#emit({ fact: 'status', status: method, detail: params });
    const update = get.object(params, 'update');
    const kind = get.name(update, 'sessionUpdate');
    if (update === null || kind === null)
      return this.#emit({ fact: 'malformed', why: 'A session/update has no update.' });
    if (this.#isLoading) return this.#emit({ fact: 'status', status: 'session/load history' });
    this.#updates.read(kind, update, frame);
  }

  #readRequest(id: RpcId, method: string, params: object, frame: JsonFrame): void {
    const isRepeated = this.#agentRequests.has(id);
    const question = method === PERMISSION_METHOD ? readPermissionRequest(params) : null;
    if (method === PERMISSION_METHOD && question === null)
      return this.#emit({ fact: 'malformed', why: 'A permission request does not name its tool call.' });
    this.#updates.close(frame);
    if (question === null) {
      this.#agentRequests.set(id, { method, question });
      this.#emit({ fact: 'status', status: method, detail: params });
    } else {
      const { options, call } = question;
      this.#agentRequests.set(id, { method, question: { callId: call.id, options } });
      this.#updates.open(call.id);
      this.#emit({ fact: 'permission_required', request: id, ...question });
    }
    if (isRepeated) warnReusedId(id, this.#emit);
  }

  #readResponse(message: RpcResponse, frame: JsonFrame): void {
    const request = this.#findRequest(message);
    if (request === null) {
      if (message.kind === 'error') return this.#readError('a request', message.error, frame);
      const why = `The agent answered ${JSON.stringify(message.id)}, which is not an open request.`;
      return this.#emit({ fact: 'malformed', why });
    }
    if (request.method === 'session/load') this.#isLoading = false;
    if (message.kind === 'error') return this.#readError(request.method, message.error, frame);
    this.#readResult(request, getResultFields(message.result), frame);
  }

  /** Finds the request that a response answers; without recorded input, it is inferred from the result. */
  #findRequest(message: RpcResponse): SentRequest | null {
    if (message.id === null) return null;
    const sentRequest = this.#sentRequests.take(message.id);
    if (sentRequest !== undefined) return sentRequest;
    if (this.#hasSent || message.kind === 'error') return null;
    const result = getResultFields(message.result);
    const sessionId = get.name(result, 'sessionId');
    if ('stopReason' in result) return { method: 'session/prompt', sessionId };
    if ('protocolVersion' in result) return { method: 'initialize', sessionId };
    return { method: sessionId === null ? 'unknown' : 'session/new', sessionId };
  }

  #readResult({ method, sessionId }: SentRequest, result: object, frame: JsonFrame): void {
    const emit = this.#emit;
    switch (method) {
      case 'initialize':
        emit({ fact: 'version', version: get.name(get.object(result, 'agentInfo'), 'version') });
        return emit({ fact: 'status', status: method, detail: result });
      case 'session/new':
      case 'session/load':
      case 'session/resume':
        return emit({
          fact: 'status',
          status: method,
          session_id: get.name(result, 'sessionId') ?? sessionId,
          model: readModel(result),
        });
      case 'session/prompt':
        return this.#readTurnEnd(result, frame);
      default:
        return emit({ fact: 'status', status: method });
    }
  }

  #readTurnEnd(result: object, frame: JsonFrame): void {
    const emit = this.#emit;
    this.#updates.close(frame);
    this.#updates.endTurn();
    const reason = get.name(result, 'stopReason');
    if (reason === null) return emit({ fact: 'malformed', why: 'The answer to session/prompt has no stopReason.' });
    const usage = this.#updates.completeUsage(readUsage(get.object(result, 'usage')));
    emit({ fact: 'status', status: 'session/prompt', reason, usage, isLast: true });
    if (reason === 'end_turn') emit({ fact: 'end_signal', signal: 'ACP_PROMPT_END_TURN' });
    else if (reason !== 'cancelled')
      emit({ fact: 'failure', message: STOP_REASONS[reason] ?? `The agent stopped: ${reason}.` });
  }

  #readError(method: string, error: object, frame: JsonFrame): void {
    this.#updates.close(frame);
    const message = get.name(error, 'message') ?? 'unknown error';
    const detail = get.field(error, 'data');
    const reason = readErrorReason(detail);
    const text = reason === null || message.includes(reason) ? message : `${message}: ${reason}`;
    const isAuthError = get.field(error, 'code') === AUTH_REQUIRED;
    this.#emit({
      fact: 'error',
      message: `The agent refused ${method}: ${text}`,
      ...(isAuthError ? { code: 'ENGINE_AUTH_HINT' as const } : undefined),
      detail: { code: get.field(error, 'code'), data: detail },
    });
    if (!OPTIONAL_METHODS.has(method)) this.#emit({ fact: 'failure', message: `The agent refused ${method}: ${text}` });
  }
}

/** The error code for missing authentication. */
const AUTH_REQUIRED = -32_000;

/** Methods that an agent can refuse without ending the conversation. */
const OPTIONAL_METHODS = toNames('authenticate session/set_mode session/set_config_option session/resume session/load');

const STOP_REASONS: Readonly<Record<string, string>> = {
  max_tokens: 'The agent stopped at its model’s token limit (max_tokens).',
  max_turn_requests: 'The agent stopped at its limit on requests per turn (max_turn_requests).',
  refusal: 'The agent refused to continue (refusal).',
};

/** Reads the cause of an error from `data`: agents put it there as a string or under one of these names. */
function readErrorReason(data: unknown): string | null {
  if (typeof data === 'string') return data === '' ? null : data;
  if (!isRecord(data)) return null;
  return get.name(data, 'details') ?? get.name(data, 'message') ?? get.name(data, 'error');
}

/** Reads a session's model from its models or, for newer agents, from its options. */
function readModel(result: object): string | null {
  const options = get.records(result, 'configOptions');
  const option = options.find((one) => get.field(one, 'category') === 'model') ?? null;
  return get.name(get.object(result, 'models'), 'currentModelId') ?? get.name(option, 'currentValue');
}

/** The method an agent calls to request permission. */
export const PERMISSION_METHOD = 'session/request_permission';

/** Limit on options per request; users cannot choose among more. */
const MAX_OPTIONS = 32;

const KINDS = ['allow_once', 'allow_always', 'reject_once', 'reject_always'] as const;

/** Reads a `session/request_permission`; null if it does not name its tool call. */
export function readPermissionRequest(params: object): PermissionRequest | null {
  const call = get.object(params, 'toolCall');
  const id = get.name(call, 'toolCallId');
  if (call === null || id === null) return null;
  const title = get.name(call, 'title');
  return {
    call: readCall(id, call),
    // Gemini CLI sends no input, so the decision depends on the title alone.
    ...(title === null ? undefined : { title }),
    options: get.array(params, 'options').slice(0, MAX_OPTIONS).filter(isRecord).flatMap(readOption),
  };
}

function readOption(option: object): PermissionOption[] {
  const id = get.name(option, 'optionId');
  const kind = KINDS.find((name) => name === get.field(option, 'kind'));
  if (id === null || kind === undefined) return [];
  return [{ id, label: get.string(option, 'name') ?? id, kind }];
}

/** Reads the answer to a permission request. An answer without a valid choice is a denial. */
function readPermissionAnswer(message: RpcResponse, options: readonly PermissionOption[]): PermissionAnswer {
  const result = message.kind === 'result' ? getResultFields(message.result) : {};
  const optionId = get.name(get.object(result, 'outcome'), 'optionId');
  const chosenOption = options.find(({ id }) => id === optionId);
  return {
    decision: chosenOption?.kind.startsWith('allow') === true ? 'allow' : 'deny',
    optionId: chosenOption?.id ?? 'cancelled',
    ...readAuthor(get.object(result, '_meta')),
  };
}
