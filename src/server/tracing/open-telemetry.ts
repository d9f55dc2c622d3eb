import type { Context, TraceAPI, SpanContext } from '@opentelemetry/api';
import { cutText } from '../../base/index.js';

/** The subset of the optional package `@opentelemetry/api` used here. */
export interface OpenTelemetry {
  readonly trace: TraceAPI;
  readonly ROOT_CONTEXT: Context;
}

/** The global symbol that every copy of the package registers an SDK under. */
const SDK_SYMBOL_NAME = /^opentelemetry\.js\.api\.\d+$/;

/** An SDK registered in this process: the version of its copy of the package, and its tracer provider. */
interface RegisteredSdk {
  readonly version: string;
  readonly provider: unknown;
}

/** Finds the SDK that this process was started with (`node --import`); undefined without one. */
export function findSdk(global: object = globalThis): RegisteredSdk | undefined {
  for (const symbol of Object.getOwnPropertySymbols(global)) {
    if (!SDK_SYMBOL_NAME.test(symbol.description ?? '')) continue;
    const registered: unknown = Reflect.get(global, symbol);
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

/**
 * Parses a `traceparent` into a parent context; the root context if it is missing or invalid. The SDK's propagator is
 * not used, because it might not be registered.
 */
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
