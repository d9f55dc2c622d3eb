import type { FcmpData, FcmpEvent } from '../../protocol/fcmp-event.js';
import type { Usage } from '../../protocol/event-parts.js';
import { projectAll, type Projection } from '../projection.js';
import { omitUndefined } from '../../../base/index.js';
import type { AgUiEvent, AgUiOutcome, AgUiUsage } from './ag-ui-event.js';
import { AgUiRun } from './ag-ui-run.js';

/**
 * Converts FCMP events to AG-UI 1.0 events. A Sluice run is a thread, each of its attempts a run of that thread: a turn
 * that waits for a user ends as an interrupt, and the answer opens the next run. An attempt whose end is unknown is an
 * error, never a success; so is one that is repeated. Events that AG-UI does not define become CUSTOM events under
 * their FCMP names.
 *
 * @example
 * toAgUi(fcmpEvents).map((event) => event.type)
 * // ['RUN_STARTED', 'TEXT_MESSAGE_START', 'TEXT_MESSAGE_CONTENT', 'TEXT_MESSAGE_END', 'RUN_FINISHED']
 */
export function toAgUi(events: Iterable<FcmpEvent>): AgUiEvent[] {
  return projectAll(createAgUiProjection(), events);
}

/**
 * Like {@link toAgUi}, one event at a time. It stores only the open items of the current attempt.
 *
 * @example
 * const projection = createAgUiProjection()
 * for await (const event of fcmpEvents) send(projection.push(event))
 */
export function createAgUiProjection(): Projection<AgUiEvent> {
  let run: AgUiRun | undefined;
  /** Nothing may follow a run's last event, so later events of an ended attempt are dropped. */
  let endedAttempt = 0;

  function close(ended: AgUiRun, last: AgUiEvent): AgUiEvent[] {
    endedAttempt = ended.attempt;
    run = undefined;
    return [...ended.closeAll(), last];
  }

  function closeUnknown(): AgUiEvent[] {
    if (run === undefined) return [];
    const message = 'It is unknown how this attempt ended.';
    return close(run, { type: 'RUN_ERROR', timestamp: run.timestamp, message, code: 'INSUFFICIENT_EVIDENCE' });
  }

  return {
    push(event) {
      const { attempt } = event.meta;
      if (attempt === endedAttempt) return [];
      const events = run !== undefined && run.attempt !== attempt ? closeUnknown() : [];
      const timestamp = Date.parse(event.ts);
      if (run === undefined) {
        run = new AgUiRun(event);
        const { threadId, runId } = run;
        events.push({ type: 'RUN_STARTED', timestamp, threadId, runId, protocolVersion: '1.0' });
      }
      run.timestamp = timestamp;
      if (event.type === 'permission.required') run.permissions.set(event.data.interaction_id, event.data);
      if (event.type === 'permission.replied') run.permissions.delete(event.data.interaction_id);
      const projected = project(event, run);
      const last = chooseLastEvent(event, run);
      return [...events, ...projected, ...(last === undefined ? [] : close(run, last))];
    },
    end: closeUnknown,
  };
}

function project(event: FcmpEvent, run: AgUiRun): AgUiEvent[] {
  const { timestamp } = run;
  switch (event.type) {
    case 'assistant.message.delta':
      return run.addMessageDelta(event.data);
    case 'assistant.message.final':
      return run.addMessage(event.data);
    case 'assistant.reasoning':
      return run.addReasoning(event.data, event.seq);
    case 'assistant.tool_call':
      return run.addToolCall(event.data);
    case 'user.input.replied':
      return createUserMessage(`${event.data.interaction_id}_reply`, event.data.text, timestamp);
    case 'user.message':
      if (event.data.parent_tool_call_id === undefined)
        return createUserMessage(`user_${event.seq}`, event.data.text, timestamp);
      return [{ type: 'CUSTOM', timestamp, name: event.type, value: event.data }];
    case 'conversation.started':
    case 'conversation.status':
    case 'assistant.plan':
    case 'permission.required':
    case 'permission.replied':
    case 'artifact.created':
    case 'artifact.modified':
    case 'artifact.deleted':
    case 'diagnostic.warning':
      return [{ type: 'CUSTOM', timestamp, name: event.type, value: event.data }];
    case 'raw.stdout':
    case 'raw.stderr':
      return [{ type: 'RAW', timestamp, event: event.data, source: event.type.slice('raw.'.length) }];
    case 'user.input.required':
      if (event.data.answerable !== false) return [];
      return [{ type: 'CUSTOM', timestamp, name: event.type, value: event.data }];
    case 'conversation.completed':
    case 'conversation.failed':
      // AG-UI's last event has the outcome and the tokens, but no durations and no reasons of the engine.
      return Object.keys(event.data).some((key) => !LAST_FIELDS.has(key))
        ? [{ type: 'CUSTOM', timestamp, name: event.type, value: event.data }]
        : [];
  }
}

/** The fields of a conversation's end that AG-UI's last event has. */
const LAST_FIELDS: ReadonlySet<string> = new Set(['state', 'reason_code', 'error', 'usage']);

function createUserMessage(messageId: string, text: string, timestamp: number): AgUiEvent[] {
  const start = { type: 'TEXT_MESSAGE_START', timestamp, messageId, role: 'user' } as const;
  const end = { type: 'TEXT_MESSAGE_END', timestamp, messageId } as const;
  return text === '' ? [start, end] : [start, { type: 'TEXT_MESSAGE_CONTENT', timestamp, messageId, delta: text }, end];
}

/** Returns a run's last event, for FCMP events that end an attempt. */
function chooseLastEvent(event: FcmpEvent, run: AgUiRun): AgUiEvent | undefined {
  if (event.type === 'conversation.completed') return createFinished({ type: 'success' }, event.data.usage, run);
  if (event.type === 'conversation.failed') return createFailed(event.data, run);
  if (event.type === 'user.input.required' && event.data.answerable !== false)
    return createInterrupted(event.data, run);
  if (event.type === 'diagnostic.warning' && LAST_WARNINGS.has(event.data.code))
    return createContinued(event.data, run);
  return undefined;
}

/** Warnings that are the last event of an attempt, because another one follows. */
const LAST_WARNINGS: ReadonlySet<string> = new Set(['OUTPUT_RETRIED', 'PERMISSION_PENDING', 'WORKER_LOST']);

function createContinued({ code, message }: FcmpData<'diagnostic.warning'>, run: AgUiRun): AgUiEvent {
  const { timestamp, permissions } = run;
  if (code !== 'PERMISSION_PENDING' || permissions.size === 0) return { type: 'RUN_ERROR', timestamp, message, code };
  const interrupts = Array.from(permissions.values(), ({ interaction_id: id, tool, options }) => ({
    id,
    reason: 'permission_required',
    message: `Permission required: ${tool}`,
    responseSchema: { type: 'string', enum: options.map((option) => option.id) },
  }));
  return createFinished({ type: 'interrupt', interrupts }, undefined, run);
}

function createFailed({ error, usage }: FcmpData<'conversation.failed'>, run: AgUiRun): AgUiEvent {
  if (error.category === 'canceled') return createFinished({ type: 'cancelled' }, usage, run);
  const { message, code } = error;
  return { type: 'RUN_ERROR', timestamp: run.timestamp, message, code, ...toUsageList(usage) };
}

function createInterrupted(data: FcmpData<'user.input.required'>, run: AgUiRun): AgUiEvent {
  const interrupt = {
    id: data.interaction_id,
    reason: 'user_input_required',
    ...(data.prompt === '' ? {} : { message: data.prompt }),
    responseSchema: { type: 'string', ...(data.options === undefined ? {} : { enum: data.options }) },
  };
  return createFinished({ type: 'interrupt', interrupts: [interrupt] }, data.usage, run);
}

function createFinished(
  outcome: AgUiOutcome,
  usage: Usage | undefined,
  { threadId, runId, timestamp }: AgUiRun,
): AgUiEvent {
  return { type: 'RUN_FINISHED', timestamp, threadId, runId, outcome, ...toUsageList(usage) };
}

function toUsageList(usage: Usage | undefined): { readonly usage?: readonly AgUiUsage[] } {
  if (usage === undefined) return {};
  const tokens: AgUiUsage = {
    inputTokens: usage.input_tokens,
    outputTokens: usage.output_tokens,
    totalTokens: usage.input_tokens + usage.output_tokens,
    ...omitUndefined({ model: usage.model, reasoningTokens: usage.reasoning_tokens }),
    ...omitUndefined({ cachedInputTokens: usage.cached_input_tokens, cacheWriteInputTokens: usage.cache_write_tokens }),
  };
  return { usage: [tokens] };
}
