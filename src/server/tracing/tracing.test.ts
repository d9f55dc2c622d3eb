import { trace } from '@opentelemetry/api';
import type { Span, SpanOptions, Tracer } from '@opentelemetry/api';
import * as openTelemetry from '@opentelemetry/api';
import { afterEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../base/logger.js';
import {
  sampleClaim,
  sampleExecution,
  sampleDecision,
  sampleSubmission,
} from '../../store/contract/fixtures/order-samples.js';
import { createRunResult } from '../../store/contract/fixtures/run-samples.js';
import { openServer } from '../fixtures/open-server.js';
import { createMetrics } from '../metrics/create-metrics.js';
import { openTracing } from './open-tracing.js';

interface Finished {
  readonly name: string;
  readonly options: SpanOptions | undefined;
  readonly end: unknown;
}

/** The spans that an SDK would receive; the package itself is the real one. */
function collectSpans(): Finished[] {
  const spans: Finished[] = [];
  const tracer = {
    startSpan: (name: string, options?: SpanOptions) =>
      ({ end: (end: unknown) => void spans.push({ name, options, end }) }) as unknown as Span,
  } as unknown as Tracer;
  trace.setGlobalTracerProvider({ getTracer: () => tracer });
  return spans;
}

afterEach(() => trace.disable());

describe('traces', () => {
  it('have spans for requests, runs and orders with their real times', async () => {
    const spans = collectSpans();
    const { store, data } = await openServer();
    const clock = () => Date.parse('2026-11-15T06:00:00.000Z');
    const tracing = await openTracing(silentLogger, async () => openTelemetry);
    const metrics = createMetrics({ store, data, clock, tracing });
    metrics.answered({ endpoint: 'parse', status: 200, ms: 40 });

    const { record } = await store.submitOrder({ ...sampleSubmission(), run: 'r' });
    const { issue_ref, run_id } = record.order;
    await store.claimRun(sampleClaim('w'));
    await store.markStarted({ id: 'r', workerId: 'w', now: clock() + 5 });
    const decision = sampleDecision('advance');
    const execution = sampleExecution(record, decision, { at: new Date(clock() + 80).toISOString(), duration_ms: 60 });
    const active = { decision, state: 'review', result: null, execution, item: null, outbox: [] } as const;
    await store.settleOrder({
      issueRef: issue_ref,
      runId: run_id,
      now: clock() + 70,
      runResult: createRunResult(),
      active,
      stale: { decision, result: null, execution },
    });
    await metrics.render();
    expect(spans.toSorted((one, other) => (one.name < other.name ? -1 : 1))).toMatchObject([
      { name: 'sluice.order', options: { startTime: clock() + 20 }, end: clock() + 80 },
      {
        name: 'sluice.request parse',
        options: { startTime: clock() - 40, attributes: { 'http.response.status_code': 200 } },
        end: clock(),
      },
      {
        name: 'sluice.run command',
        options: { startTime: clock() + 5, attributes: { 'sluice.run_id': 'r', 'sluice.issue_ref': issue_ref } },
        end: clock() + 70,
      },
    ]);
  });

  it('are not created if the package is not installed, without an error', async () => {
    const missing = async () => Promise.reject(new Error("Cannot find package '@opentelemetry/api'"));
    expect(await openTracing(silentLogger, missing)).toBeUndefined();
  });
});
