import type { Attributes, Context, Span, TraceAPI, SpanContext } from '@opentelemetry/api';
import { cutText, listKeys, omitUndefined } from '../../base/index.js';
import type { FcmpEvent, Usage } from '../../events/index.js';

/** The subset of the optional package `@opentelemetry/api` used here. */
export interface OpenTelemetry {
  readonly trace: TraceAPI;
  readonly ROOT_CONTEXT: Context;
}

/** The global symbol that every copy of the package registers an SDK under. */
const SDK_SYMBOL_NAME = /^opentelemetry\.js\.api\.\d+$/;

/** Finds the SDK that this process was started with (`node --import`); `version` is that of its copy of the package. */
export function findSdk(): { readonly version: string; readonly provider: unknown } | undefined {
  for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
    if (!SDK_SYMBOL_NAME.test(symbol.description ?? '')) continue;
    const registered: unknown = Reflect.get(globalThis, symbol);
    if (typeof registered !== 'object' || registered === null || !('trace' in registered)) continue;
    const version = 'version' in registered ? String(registered.version) : 'unknown';
    return { version, provider: registered.trace };
  }
  return undefined;
}

/** The maximum length of recorded text: collectors reject large attributes, and the run stores the full text. */
const MAX_LENGTH = 8192;

/** Formats a value as text, shortened. */
export function describeContent(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.length <= MAX_LENGTH ? text : `${cutText(text, MAX_LENGTH)}…`;
}

/** Formats a shortened message according to OpenTelemetry's conventions for generative AI. */
export function describeMessage(role: 'user' | 'assistant', text: string): string {
  return JSON.stringify([{ role, parts: [{ type: 'text', content: describeContent(text) }] }]);
}

/** Version 00 of W3C Trace Context: trace id, span id, flags. */
const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** Parses a `traceparent`, as the SDK's propagator might not be registered; the root context if it is invalid. */
export function readParent({ trace, ROOT_CONTEXT }: OpenTelemetry, traceparent: string | undefined): Context {
  const [, traceId = '', spanId = '', flags = ''] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  const parent: SpanContext = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  // An all-zero id is invalid.
  if (!/[1-9a-f]/.test(traceId) || !/[1-9a-f]/.test(spanId)) return ROOT_CONTEXT;
  return trace.setSpanContext(ROOT_CONTEXT, parent);
}

/** Formats a span's `traceparent`; undefined if nothing is recorded. */
export function formatTraceparent({ traceId, spanId, traceFlags }: SpanContext): string | undefined {
  if (!/[1-9a-f]/.test(traceId) || !/[1-9a-f]/.test(spanId)) return undefined;
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

/** The attribute for each field that an engine reports about a run as a whole. */
const ENGINE_ATTRIBUTES = {
  engine_version: 'gen_ai.agent.version',
  model: 'gen_ai.response.model',
  duration_ms: 'sluice.engine.duration_ms',
  duration_api_ms: 'sluice.engine.duration_api_ms',
  ttft_ms: 'sluice.engine.ttft_ms',
  turns: 'sluice.engine.turns',
  terminal_reason: 'sluice.engine.terminal_reason',
  permission_mode: 'sluice.engine.permission_mode',
  workdir: 'process.working_directory',
} as const;

/** Creates a function that records what the engine reports about a run at its start and end, and its retries. */
export function createEngineRecorder(span: Span): (event: FcmpEvent) => void {
  let retries = 0;
  return ({ type, data }) => {
    if (type === 'diagnostic.warning' && data.retrying === true) {
      retries += 1;
      span.setAttribute('sluice.engine.retries', retries);
    }
    if (type !== 'conversation.started' && type !== 'conversation.completed' && type !== 'conversation.failed') return;
    for (const field of listKeys(ENGINE_ATTRIBUTES)) {
      const value = data[field];
      if (value !== undefined) span.setAttribute(ENGINE_ATTRIBUTES[field], value);
    }
    if (data.stop_reason !== undefined) span.setAttribute('gen_ai.response.finish_reasons', [data.stop_reason]);
  };
}

/** Returns the engine's own time in milliseconds, but not a later time than the event that has it. */
export function readTime(time: string | undefined, at: number): number {
  return Math.min(at, Date.parse(time ?? '') || at);
}

export function describeUsage(usage: Usage | undefined): Attributes {
  if (usage === undefined) return {};
  const { input_tokens, output_tokens, cached_input_tokens, cache_write_tokens, cost } = usage;
  return omitUndefined({
    'gen_ai.usage.input_tokens': input_tokens,
    'gen_ai.usage.output_tokens': output_tokens,
    'gen_ai.usage.cache_read.input_tokens': cached_input_tokens,
    'gen_ai.usage.cache_creation.input_tokens': cache_write_tokens,
    'sluice.usage.cost': cost,
  });
}

/** `SpanStatusCode.ERROR`: the optional package that defines it is not imported here. */
const ERROR = 2;

export function markFailed(span: Span, type: string, message: string | undefined): void {
  span.setAttribute('error.type', type);
  span.setStatus({ code: ERROR, ...(message === undefined ? {} : { message: describeContent(message) }) });
}
