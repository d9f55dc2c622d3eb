import type { Attributes, Context, Span, Tracer } from '@opentelemetry/api';
import type { FcmpEvent, Usage } from '../../events/index.js';
import type { RunResult, RunSpec } from '../../store/records/index.js';
import type { RunTrace } from '../../runs/index.js';
import { describeContent, describeMessage, formatTraceparent, readParent } from './open-telemetry.js';
import type { OpenTelemetry } from './open-telemetry.js';

interface TraceSettings {
  readonly api: OpenTelemetry;
  readonly tracer: Tracer;
  readonly content: boolean;
  readonly consoleUrl: string | undefined;
}

/**
 * Maximum number of spans per run. An attribute contains the number of omitted spans; the run's events contain
 * everything.
 */
const MAX_SPANS = 1000;
/** The maximum number of recorded messages per step. */
const MAX_MESSAGES = 20;
/** `SpanKind.CLIENT` and `SpanStatusCode.ERROR`, because the optional package is not imported here. */
const CLIENT = 2;
const ERROR = 2;

/** The engines' model providers, as named by the conventions; for other engines, the engine name is used. */
const PROVIDERS: Readonly<Record<string, string>> = {
  codex: 'openai',
  'codex-acp': 'openai',
  claude: 'anthropic',
  'claude-acp': 'anthropic',
  gemini: 'gcp.gemini',
  'gemini-acp': 'gcp.gemini',
};

/** One request to a model: its output since the last tool result. */
interface Step {
  /** Milliseconds since 1970. */
  readonly start: number;
  end: number;
  model: string | undefined;
  usage: Usage | undefined;
  readonly messages: string[];
}

/** The agent, or one of its sub-agents. */
interface TracedAgent {
  /** When the model could start its current step: after the last tool result or reply. */
  since: number;
  step: Step | undefined;
  readonly parent: Context;
}

/**
 * Starts a run's spans, following OpenTelemetry's conventions for generative AI: `invoke_agent`, and as its children a
 * `chat` for each model step and an `execute_tool` for each tool call. An agent does not report its requests, so a
 * `chat` lasts from the last tool result to the last message.
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
  const mainAgent: TracedAgent = {
    since: Date.now(),
    step: undefined,
    parent: api.trace.setSpan(api.ROOT_CONTEXT, span),
  };
  const subAgents = new Map<string, TracedAgent>();
  /** The spans of unfinished calls; undefined for a call whose span was omitted. */
  const calls = new Map<string, Span | undefined>();
  /**
   * Records the first step; called when the next step or the run ends. If it is the only step, the run's usage is its
   * usage.
   */
  let recordFirstStep: ((usage: Usage | undefined, model: string | undefined) => void) | undefined;
  let isFirstStep = true;
  let spanCount = 0;
  let lastTime = mainAgent.since;

  /** Starts a span, unless there are too many. */
  function startSpan(
    name: string,
    attributes: Attributes,
    { startTime, parent, kind }: { startTime: number; parent: Context; kind?: number },
  ) {
    spanCount += 1;
    if (spanCount > MAX_SPANS) return undefined;
    return tracer.startSpan(name, { startTime, attributes, ...(kind === undefined ? {} : { kind }) }, parent);
  }

  /** Finds the agent that emitted an event. */
  function findAgent(data: object, at: number): TracedAgent {
    const callId = 'parent_tool_call_id' in data ? String(data.parent_tool_call_id) : '';
    const existing = subAgents.get(callId);
    if (existing !== undefined || callId === '') return existing ?? mainAgent;
    const callSpan = calls.get(callId);
    // A sub-agent whose tool call has no span counts as the main agent, which limits the number of sub-agents too.
    if (callSpan === undefined) return mainAgent;
    const parent = api.trace.setSpan(api.ROOT_CONTEXT, callSpan);
    const agent: TracedAgent = { since: at, step: undefined, parent };
    subAgents.set(callId, agent);
    return agent;
  }

  /** Continues the current step, or starts a new step after the last tool result. */
  function continueStep(agent: TracedAgent, at: number): Step {
    agent.step ??= { start: Math.min(agent.since, at), end: at, model: undefined, usage: undefined, messages: [] };
    agent.step.end = at;
    return agent.step;
  }

  function endStep(agent: TracedAgent, at: number): void {
    const { step } = agent;
    agent.since = at;
    if (step === undefined) return;
    agent.step = undefined;
    const record = (usage = step.usage, usedModel = step.model): void => {
      const model = usedModel ?? spec.model;
      const attributes: Attributes = {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': provider,
        'sluice.run_id': id,
        ...(spec.model === undefined ? {} : { 'gen_ai.request.model': spec.model }),
        ...(usedModel === undefined ? {} : { 'gen_ai.response.model': usedModel }),
        ...describeUsage(usage),
        ...(content && step.messages.length > 0
          ? { 'gen_ai.output.messages': describeMessage('assistant', step.messages.join('\n')) }
          : {}),
      };
      const name = model === undefined ? 'chat' : `chat ${model}`;
      startSpan(name, attributes, { startTime: step.start, parent: agent.parent, kind: CLIENT })?.end(step.end);
    };
    recordFirstStep?.(undefined, undefined);
    recordFirstStep = undefined;
    if (isFirstStep && step.usage === undefined && agent === mainAgent) recordFirstStep = record;
    else record();
    isFirstStep = false;
  }

  function recordTool(event: FcmpEvent<'assistant.tool_call'>, at: number): void {
    const { tool_call_id, name, status, input, output, error, exit_code, model, usage } = event.data;
    const agent = findAgent(event.data, at);
    if (!calls.has(tool_call_id)) {
      const step = continueStep(agent, at);
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
      calls.set(tool_call_id, startSpan(`execute_tool ${name}`, attributes, { startTime: at, parent: agent.parent }));
    }
    if (status === 'started') return;
    const call = calls.get(tool_call_id);
    if (call !== undefined) {
      if (content && output !== undefined) call.setAttribute('gen_ai.tool.call.result', describeContent(output));
      if (typeof exit_code === 'number') call.setAttribute('process.exit.code', exit_code);
      if (status === 'failed') markFailed(call, 'tool_error', content ? error : undefined);
      call.end(at);
    }
    calls.delete(tool_call_id);
    const subAgent = subAgents.get(tool_call_id);
    if (subAgent !== undefined) endStep(subAgent, at);
    subAgents.delete(tool_call_id);
    endStep(agent, at);
  }

  function recordMessage({ data }: FcmpEvent<'assistant.message.final'>, at: number): void {
    const step = continueStep(findAgent(data, at), at);
    step.model = data.model ?? step.model;
    step.usage = data.usage ?? step.usage;
    // The recorded text is shortened, so more messages are not needed.
    if (content && step.messages.length < MAX_MESSAGES) step.messages.push(describeContent(data.text));
  }

  return {
    traceparent: formatTraceparent(span.spanContext()),
    onEvent(event) {
      const at = Math.max(lastTime, Date.parse(event.ts));
      if (Number.isNaN(at)) return;
      lastTime = at;
      if (event.type === 'assistant.tool_call') recordTool(event, at);
      else if (event.type === 'assistant.message.final') recordMessage(event, at);
      else if (event.type === 'assistant.message.delta' || event.type === 'assistant.reasoning')
        continueStep(findAgent(event.data, at), at);
      // The run is waiting for a user instead of the model.
      else if (event.type === 'user.input.required' || event.type === 'user.input.replied') endStep(mainAgent, at);
    },
    end(result) {
      for (const agent of [...subAgents.values(), mainAgent]) endStep(agent, lastTime);
      for (const call of calls.values()) {
        if (call === undefined) continue;
        markFailed(call, 'not_finished', undefined);
        call.end(lastTime);
      }
      recordFirstStep?.(result.usage, result.model);
      span.setAttributes(describeResult(result, content));
      if (spanCount > MAX_SPANS) span.setAttribute('sluice.spans_left_out', spanCount - MAX_SPANS);
      if (result.error !== undefined) markFailed(span, result.error.code, result.error.message);
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
  const { status, attempts, model, usage, session_id, process: exit, text, repair_level, cached_from } = result;
  return {
    'sluice.status': status,
    'sluice.attempts': attempts,
    'sluice.repair_level': repair_level,
    ...describeUsage(usage),
    ...(model === undefined ? {} : { 'gen_ai.response.model': model }),
    ...(session_id === null ? {} : { 'gen_ai.conversation.id': session_id }),
    ...(exit?.version === undefined || exit.version === null ? {} : { 'gen_ai.agent.version': exit.version }),
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

function markFailed(span: Span, type: string, message: string | undefined): void {
  span.setAttribute('error.type', type);
  span.setStatus({ code: ERROR, ...(message === undefined ? {} : { message: describeContent(message) }) });
}
