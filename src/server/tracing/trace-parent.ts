import type { Context, SpanContext } from '@opentelemetry/api';
import type { OpenTelemetry } from './open-telemetry.js';

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
