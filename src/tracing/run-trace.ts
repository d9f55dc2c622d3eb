import type { Attributes, Context, Span, Tracer } from '@opentelemetry/api';
import type { FcmpEvent, Usage } from '../events/index.js';
import type { RunResult, RunSpec } from '../records/index.js';
import type { RunTrace } from '../runs/index.js';
import { describeContent, describeMessage } from './content.js';
import type { OpenTelemetry } from './open-telemetry.js';
import { formatTraceparent, readParent } from './trace-parent.js';

interface TraceSettings {
  readonly api: OpenTelemetry;
  readonly tracer: Tracer;
  readonly content: boolean;
  readonly consoleUrl: string | undefined;
}

/** A run with more steps than this is marked; the rest is in its events. */
const MAX_SPANS = 1000;
/** Messages of one step whose text is recorded. */
const MAX_SAID = 20;
/** `SpanKind.CLIENT` and `SpanStatusCode.ERROR`; the package is not loaded here. */
const CLIENT = 2;
const ERROR = 2;

/** The provider of an engine's models, as the conventions name it; others are named by their engine. */
const PROVIDERS: Readonly<Record<string, string>> = {
  codex: 'openai',
  'codex-acp': 'openai',
  claude: 'anthropic',
  'claude-acp': 'anthropic',
  gemini: 'gcp.gemini',
  'gemini-acp': 'gcp.gemini',
};

/** A model's output since the last tool result: one request to it. */
interface Step {
  /** Milliseconds since 1970. */
  readonly start: number;
  end: number;
  model: string | undefined;
  usage: Usage | undefined;
  readonly said: string[];
}

/** The agent itself, or a sub-agent of it. */
interface Speaker {
  /** When the last event ended that its model may have been waiting for. */
  since: number;
  step: Step | undefined;
  readonly parent: Context;
}

/**
 * Starts the spans of one run by the GenAI conventions: `invoke_agent`, and below it a `chat` for each turn of its model
 * and an `execute_tool` for each call. An agent does not report its requests, so a `chat` lasts from the last tool result
 * to the last message.
 */
export function startRunTrace(
  settings: TraceSettings,
  { id, spec }: { readonly id: string; readonly spec: RunSpec },
): RunTrace {
  const { api, tracer, content, consoleUrl } = settings;
  const provider = PROVIDERS[spec.engine] ?? spec.engine;
  const span = tracer.startSpan(
    `invoke_agent ${spec.engine}`,
    { attributes: describeSpec(id, spec, { provider, content, consoleUrl }) },
    readParent(api, spec.traceparent),
  );
  const own: Speaker = { since: Date.now(), step: undefined, parent: api.trace.setSpan(api.ROOT_CONTEXT, span) };
  const speakers = new Map<string, Speaker>();
  const calls = new Map<string, Span>();
  /** Records the first step, until it is known whether it was the only one: then the usage of the run is its usage. */
  let held: ((usage: Usage | undefined, model: string | undefined) => void) | undefined;
  let isFirst = true;
  let made = 0;
  let last = own.since;

  /** The span, unless there are too many. */
  function open(name: string, attributes: Attributes, at: { startTime: number; parent: Context; kind?: number }) {
    made += 1;
    if (made > MAX_SPANS) return undefined;
    const { startTime, parent, kind } = at;
    return tracer.startSpan(name, { startTime, attributes, ...(kind === undefined ? {} : { kind }) }, parent);
  }

  function findSpeaker(data: object, at: number): Speaker {
    const call = 'parent_tool_call_id' in data ? String(data.parent_tool_call_id) : '';
    const found = speakers.get(call);
    if (found !== undefined || call === '') return found ?? own;
    const above = calls.get(call);
    const parent = above === undefined ? own.parent : api.trace.setSpan(api.ROOT_CONTEXT, above);
    const speaker: Speaker = { since: at, step: undefined, parent };
    // Bounded with the spans: without a separate span, a sub-agent counts as the agent.
    if (above === undefined) return own;
    speakers.set(call, speaker);
    return speaker;
  }

  /** Continues the step of a model that has printed a message, or starts one after the last tool result. */
  function continueStep(speaker: Speaker, at: number): Step {
    speaker.step ??= { start: Math.min(speaker.since, at), end: at, model: undefined, usage: undefined, said: [] };
    speaker.step.end = at;
    return speaker.step;
  }

  function endStep(speaker: Speaker, at: number): void {
    const { step } = speaker;
    speaker.since = at;
    if (step === undefined) return;
    speaker.step = undefined;
    const record = (usage = step.usage, used = step.model): void => {
      const model = used ?? spec.model;
      const attributes: Attributes = {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': provider,
        'sluice.run_id': id,
        ...(spec.model === undefined ? {} : { 'gen_ai.request.model': spec.model }),
        ...(used === undefined ? {} : { 'gen_ai.response.model': used }),
        ...describeUsage(usage),
        ...(content && step.said.length > 0
          ? { 'gen_ai.output.messages': describeMessage('assistant', step.said.join('\n')) }
          : {}),
      };
      const name = model === undefined ? 'chat' : `chat ${model}`;
      open(name, attributes, { startTime: step.start, parent: speaker.parent, kind: CLIENT })?.end(step.end);
    };
    held?.(undefined, undefined);
    held = undefined;
    if (isFirst && step.usage === undefined && speaker === own) held = record;
    else record();
    isFirst = false;
  }

  function recordTool(event: FcmpEvent<'assistant.tool_call'>, at: number): void {
    const { tool_call_id, name, status, input, output, error, exit_code, model, usage } = event.data;
    const speaker = findSpeaker(event.data, at);
    if (!calls.has(tool_call_id)) {
      const step = continueStep(speaker, at);
      step.model ??= model;
      step.usage ??= usage;
      const attributes: Attributes = {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': name,
        'gen_ai.tool.call.id': tool_call_id,
        'gen_ai.tool.type': 'function',
        'sluice.run_id': id,
        ...(content && input !== undefined ? { 'gen_ai.tool.call.arguments': describeContent(input) } : {}),
      };
      const call = open(`execute_tool ${name}`, attributes, { startTime: at, parent: speaker.parent });
      if (call !== undefined) calls.set(tool_call_id, call);
    }
    if (status === 'started') return;
    const call = calls.get(tool_call_id);
    if (call !== undefined) {
      if (content && output !== undefined) call.setAttribute('gen_ai.tool.call.result', describeContent(output));
      if (typeof exit_code === 'number') call.setAttribute('process.exit.code', exit_code);
      if (status === 'failed') fail(call, 'tool_error', content ? error : undefined);
      call.end(at);
      calls.delete(tool_call_id);
    }
    const inner = speakers.get(tool_call_id);
    if (inner !== undefined) endStep(inner, at);
    speakers.delete(tool_call_id);
    endStep(speaker, at);
  }

  function recordMessage({ data }: FcmpEvent<'assistant.message.final'>, at: number): void {
    const step = continueStep(findSpeaker(data, at), at);
    step.model = data.model ?? step.model;
    step.usage = data.usage ?? step.usage;
    // The text of one step is recorded shortened, so no more of it is kept.
    if (content && step.said.length < MAX_SAID) step.said.push(describeContent(data.text));
  }

  return {
    traceparent: formatTraceparent(span.spanContext()),
    onEvent(event) {
      const at = Math.max(last, Date.parse(event.ts));
      if (Number.isNaN(at)) return;
      last = at;
      if (event.type === 'assistant.tool_call') recordTool(event, at);
      else if (event.type === 'assistant.message.final') recordMessage(event, at);
      else if (event.type === 'assistant.message.delta' || event.type === 'assistant.reasoning')
        continueStep(findSpeaker(event.data, at), at);
      // The run now waits for someone other than the model.
      else if (event.type === 'user.input.required' || event.type === 'user.input.replied') endStep(own, at);
    },
    end(result) {
      for (const speaker of [...speakers.values(), own]) endStep(speaker, last);
      for (const call of calls.values()) {
        fail(call, 'not_finished', undefined);
        call.end(last);
      }
      held?.(result.usage, result.model);
      span.setAttributes(describeResult(result, content));
      if (made > MAX_SPANS) span.setAttribute('sluice.spans_left_out', made - MAX_SPANS);
      if (result.error !== undefined) fail(span, result.error.code, result.error.message);
      span.end();
    },
  };
}

function describeSpec(
  id: string,
  { engine, model, prompt, contract, session }: RunSpec,
  { provider, content, consoleUrl }: { provider: string } & Pick<TraceSettings, 'content' | 'consoleUrl'>,
): Attributes {
  return {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.provider.name': provider,
    'gen_ai.agent.name': engine,
    'sluice.run_id': id,
    ...(consoleUrl === undefined ? {} : { 'sluice.run_url': `${consoleUrl.replace(/\/+$/, '')}/runs/${id}` }),
    ...(model === undefined ? {} : { 'gen_ai.request.model': model }),
    ...(contract === undefined ? {} : { 'gen_ai.output.type': 'json' }),
    ...(session === undefined ? {} : { 'gen_ai.conversation.id': session }),
    ...(content && prompt !== undefined ? { 'gen_ai.input.messages': describeMessage('user', prompt) } : {}),
  };
}

function describeResult(result: RunResult, content: boolean): Attributes {
  const { status, attempts, model, usage, session_id, process: ended, text, repair_level, cached_from } = result;
  return {
    'sluice.status': status,
    'sluice.attempts': attempts,
    'sluice.repair_level': repair_level,
    ...describeUsage(usage),
    ...(model === undefined ? {} : { 'gen_ai.response.model': model }),
    ...(session_id === null ? {} : { 'gen_ai.conversation.id': session_id }),
    ...(ended?.version === undefined || ended.version === null ? {} : { 'gen_ai.agent.version': ended.version }),
    ...(cached_from === undefined ? {} : { 'sluice.cached_from': cached_from }),
    ...(content && text !== undefined ? { 'gen_ai.output.messages': describeMessage('assistant', text) } : {}),
  };
}

function describeUsage(usage: Usage | undefined): Attributes {
  if (usage === undefined) return {};
  const { input_tokens, output_tokens, cached_input_tokens, cache_write_tokens, cost } = usage;
  return {
    'gen_ai.usage.input_tokens': input_tokens,
    'gen_ai.usage.output_tokens': output_tokens,
    ...(cached_input_tokens === undefined ? {} : { 'gen_ai.usage.cache_read.input_tokens': cached_input_tokens }),
    ...(cache_write_tokens === undefined ? {} : { 'gen_ai.usage.cache_creation.input_tokens': cache_write_tokens }),
    ...(cost === undefined ? {} : { 'sluice.usage.cost': cost }),
  };
}

function fail(span: Span, type: string, message: string | undefined): void {
  span.setAttribute('error.type', type);
  span.setStatus({ code: ERROR, ...(message === undefined ? {} : { message: describeContent(message) }) });
}
