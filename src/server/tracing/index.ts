import { setTimeout as wait } from 'node:timers/promises';
import type { Attributes, Context, Span, Tracer } from '@opentelemetry/api';
import { getErrorMessage, omitUndefined, type Logger } from '../../base/index.js';
import { VERSION } from '../../base/files/index.js';
import type { RunTracer, RunTrace } from '../../runs/index.js';
import {
  findSdk,
  formatTraceparent,
  readParent,
  type OpenTelemetry,
  describeContent,
  createEngineRecorder,
  describeUsage,
  markFailed,
  readTime,
  describeMessage,
} from './open-telemetry.js';
import type { FcmpEvent, Usage } from '../../events/index.js';
import type { RunResult, RunSpec } from '../../store/records/index.js';

export interface Tracing extends RunTracer {
  /** Records an HTTP request; `at` is when the response was sent, in milliseconds since 1970. */
  recordRequest(request: TracedRequest, at: number): void;
  /** Sends the recorded spans, waiting at most a few seconds; for processes that are about to exit. */
  flush(): Promise<void>;
}

interface TracedRequest {
  readonly endpoint: string;
  readonly status: number;
  readonly ms: number;
  readonly traceparent?: string | undefined;
}

export interface TracingOptions {
  readonly logger: Pick<Logger, 'debug' | 'warn'>;
  /** Whether to record prompts, answers, tool arguments and tool results, shortened. They can contain secrets. */
  readonly content?: boolean | undefined;
  readonly consoleUrl?: string | undefined;
  /** Environment variables that show whether traces are expected. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly load?: () => Promise<OpenTelemetry>;
}

/** A collector that does not respond must not prevent a command from exiting. */
const FLUSH_MS = 5000;

/** Opens tracing through the SDK that the process was started with (`node --import`); undefined without one. */
export async function openTracing({
  logger,
  content = false,
  consoleUrl,
  env = process.env,
  load = async () => import('@opentelemetry/api'),
}: TracingOptions): Promise<Tracing | undefined> {
  const sdk = findSdk();
  if (sdk === undefined) {
    if (isTracingRequested(env)) {
      logger.warn(
        'no traces are sent: OTEL_* variables are set, but no OpenTelemetry SDK is loaded. Start Node.js with --import and the module that sets up your SDK.',
      );
    }
    return undefined;
  }
  let api: OpenTelemetry;
  try {
    api = await load();
  } catch (error) {
    logger.warn(
      'no traces are sent: an OpenTelemetry SDK is loaded, but Sluice cannot import @opentelemetry/api. Install it in the same project as Sluice.',
      { error: getErrorMessage(error) },
    );
    return undefined;
  }
  // A copy of the package silently ignores an SDK registered by an older copy.
  if (api.trace.getTracerProvider() !== sdk.provider) {
    logger.warn(
      'no traces are sent: the OpenTelemetry SDK uses another version of @opentelemetry/api. Install the same version in the same project as Sluice.',
      { sdk_api_version: sdk.version },
    );
    return undefined;
  }
  return createTracing(api, { content, consoleUrl });
}

function isTracingRequested(env: Readonly<Record<string, string | undefined>>): boolean {
  const { OTEL_SDK_DISABLED: disabled, OTEL_TRACES_EXPORTER: exporter = '' } = env;
  if (disabled?.trim().toLowerCase() === 'true' || exporter === 'none') return false;
  const names = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
  return exporter !== '' || names.some((name) => (env[name] ?? '') !== '');
}

function createTracing(api: OpenTelemetry, settings: Pick<TraceSettings, 'content' | 'consoleUrl'>): Tracing {
  const tracer = api.trace.getTracer('sluice', VERSION);
  return {
    recordRequest({ endpoint, status, ms, traceparent }, at) {
      const attributes = { 'sluice.endpoint': endpoint, 'http.response.status_code': status };
      const options = { startTime: at - ms, attributes, kind: SERVER };
      tracer.startSpan(`sluice.request ${endpoint}`, options, readParent(api, traceparent)).end(at);
    },
    startRun: (run) => startRunTrace({ api, tracer, ...settings }, run),
    startOrder({ issue_ref, run_id, run, worker, traceparent }) {
      const attributes = {
        'sluice.issue_ref': issue_ref,
        'sluice.order_run_id': run_id,
        'sluice.run_id': run,
        'sluice.worker': worker,
      };
      const span = tracer.startSpan('sluice.order', { attributes }, readParent(api, traceparent));
      return {
        traceparent: formatTraceparent(span.spanContext()),
        end(decision) {
          if (decision !== undefined) {
            span.setAttributes({ 'sluice.decision': decision.action, 'sluice.result_code': decision.result_code });
          }
          span.end();
        },
      };
    },
    async flush() {
      const flushing = forceFlush(api.trace.getTracerProvider());
      if (flushing === undefined) return;
      const flushed = new AbortController();
      const timeout = wait(FLUSH_MS, undefined, { signal: flushed.signal });
      await Promise.race([flushing, timeout]).catch(() => undefined);
      flushed.abort();
      await timeout.catch(() => undefined);
    },
  };
}

/** Calls the provider's `forceFlush`, which the package hides behind a proxy. */
function forceFlush(provider: unknown): Promise<unknown> | undefined {
  if (typeof provider !== 'object' || provider === null) return undefined;
  if ('forceFlush' in provider && typeof provider.forceFlush === 'function') {
    return Promise.resolve(Reflect.apply(provider.forceFlush, provider, []));
  }
  if ('getDelegate' in provider && typeof provider.getDelegate === 'function') {
    return forceFlush(Reflect.apply(provider.getDelegate, provider, []));
  }
  return undefined;
}

interface TraceSettings {
  readonly api: OpenTelemetry;
  readonly tracer: Tracer;
  readonly content: boolean;
  readonly consoleUrl: string | undefined;
}

/** Maximum number of spans per run; an attribute has the number of omitted spans. */
const MAX_SPANS = 1000;
/** The maximum number of recorded messages per step. */
const MAX_MESSAGES = 20;
/** `SpanKind`: the optional package that defines it is not imported here. */
const SERVER = 1;
const CLIENT = 2;

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
  const recordEngine = createEngineRecorder(span);
  const subAgents = new Map<string, TracedAgent>();
  /** The spans of unfinished calls; undefined for a call whose span was omitted. */
  const calls = new Map<string, Span | undefined>();
  /** Records the first step, when the next step or the run ends; the only step gets the run's usage. */
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
      const hasMessages = content && step.messages.length > 0;
      const attributes = omitUndefined({
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': provider,
        'sluice.run_id': id,
        'gen_ai.request.model': spec.model,
        'gen_ai.response.model': usedModel,
        ...describeUsage(usage),
        'gen_ai.output.messages': hasMessages ? describeMessage('assistant', step.messages.join('\n')) : undefined,
      });
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
      const attributes = omitUndefined({
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': name,
        'gen_ai.tool.call.id': tool_call_id,
        'gen_ai.tool.type': 'function',
        'sluice.run_id': id,
        'gen_ai.tool.call.arguments': content && input !== undefined ? describeContent(input) : undefined,
      });
      const options = { startTime: readTime(event.data.started_at, at), parent: agent.parent };
      calls.set(tool_call_id, startSpan(`execute_tool ${name}`, attributes, options));
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
      recordEngine(event);
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
  return omitUndefined({
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.provider.name': provider,
    'gen_ai.agent.name': engine,
    'sluice.run_id': id,
    'sluice.run_url': consoleUrl === undefined ? undefined : `${consoleUrl.replace(/\/+$/, '')}/runs/${id}`,
    'gen_ai.request.model': model,
    'gen_ai.output.type': contract === undefined ? undefined : 'json',
    'gen_ai.conversation.id': session,
    'gen_ai.input.messages': content && prompt !== undefined ? describeMessage('user', prompt) : undefined,
  });
}

function describeResult(result: RunResult, content: boolean): Attributes {
  const { status, attempts, model, usage, session_id, process: exit, text, repair_level, cached_from } = result;
  return omitUndefined({
    'sluice.status': status,
    'sluice.attempts': attempts,
    'sluice.repair_level': repair_level,
    ...describeUsage(usage),
    'gen_ai.response.model': model,
    'gen_ai.conversation.id': session_id ?? undefined,
    'gen_ai.agent.version': exit?.version ?? undefined,
    'sluice.cached_from': cached_from,
    'gen_ai.output.messages': content && text !== undefined ? describeMessage('assistant', text) : undefined,
  });
}
