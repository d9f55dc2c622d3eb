import * as api from '@opentelemetry/api';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import * as newerApi from 'opentelemetry-api-newer';
import { afterEach, describe, expect, it } from 'vitest';
import { openTracing } from './index.js';

/** A logger that collects warnings. */
function collectWarnings() {
  const warnings: string[] = [];
  const logger = { debug: () => undefined, warn: (message: string) => void warnings.push(message) };
  return { logger, warnings };
}

/** An SDK as `node --import` would register it. */
function registerSdk() {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  expect(api.trace.setGlobalTracerProvider(provider)).toBe(true);
  return exporter;
}

afterEach(() => api.trace.disable());

describe('openTracing', () => {
  it('creates spans for requests with their real times, as children of the caller’s span', async () => {
    const exporter = registerSdk();
    const { logger, warnings } = collectWarnings();
    const tracing = await openTracing({ logger, env: {} });
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    tracing?.recordRequest({ endpoint: 'parse', status: 200, ms: 40, traceparent }, 1_800_000_000_000);
    await tracing?.flush();
    expect(exporter.getFinishedSpans()).toMatchObject([
      {
        name: 'sluice.request parse',
        kind: api.SpanKind.SERVER,
        startTime: [1_799_999_999, 960_000_000],
        endTime: [1_800_000_000, 0],
        attributes: { 'http.response.status_code': 200 },
        parentSpanContext: { spanId: 'b7ad6b7169203331' },
      },
    ]);
    expect(warnings).toEqual([]);
  });

  it('creates a span for an order with its decision', async () => {
    const exporter = registerSdk();
    const tracing = await openTracing({ ...collectWarnings(), env: {} });
    const order = { issue_ref: 'a/b#1', run_id: 'x-1', run: 'r', worker: 'codex-cli', traceparent: undefined };
    const trace = tracing?.startOrder(order);
    trace?.end({ action: 'advance', reason: 'ok', result_code: 'ok', next: '' } as never);
    expect(exporter.getFinishedSpans()).toMatchObject([
      { name: 'sluice.order', attributes: { 'sluice.issue_ref': 'a/b#1', 'sluice.decision': 'advance' } },
    ]);
  });

  it('warns if the SDK was registered by another version of the package, which would drop every span', async () => {
    registerSdk();
    const { logger, warnings } = collectWarnings();
    const load = async () => newerApi as unknown as typeof api;
    expect(await openTracing({ logger, env: {}, load })).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining('another version of @opentelemetry/api')]);
  });

  it('warns if an SDK is registered but the package is not installed here', async () => {
    registerSdk();
    const { logger, warnings } = collectWarnings();
    const load = async () => Promise.reject(new Error("Cannot find package '@opentelemetry/api'"));
    expect(await openTracing({ logger, env: {}, load })).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining('cannot import @opentelemetry/api')]);
  });

  it.each([
    [0, {}],
    [1, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }],
    [1, { OTEL_TRACES_EXPORTER: 'otlp' }],
    [0, { OTEL_TRACES_EXPORTER: 'none', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }],
  ])('logs %i warnings without an SDK and with the variables %j', async (count, env) => {
    const { logger, warnings } = collectWarnings();
    expect(await openTracing({ logger, env })).toBeUndefined();
    expect(warnings).toHaveLength(count);
  });
});
