import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createJsonLogger } from '../../base/logger.js';
import { packRunFolder } from '../../runs/run-folder/index.js';
import {
  sampleExecution,
  sampleItem,
  sampleMessage,
  sampleSettlement,
  sampleSubmission,
} from '../../store/contract/fixtures/order-samples.js';
import { sampleFcmp, createRunResult, sampleSpec } from '../../store/contract/fixtures/run-samples.js';
import { openServer } from '../fixtures/open-server.js';
import { createMetrics } from './create-metrics.js';

async function openWithMetrics() {
  const lines: string[] = [];
  const server = await openServer({ logger: createJsonLogger((line) => lines.push(line)) });
  /** Reads a metric's samples by label. */
  const readMetric = async (name: string): Promise<Record<string, number>> => {
    const text = await (await server.get('/metrics')).text();
    const samples = text.split('\n').flatMap((line) => {
      const [, labels = '', value] = new RegExp(`^${name}(\\{.*\\})? (\\S+)$`).exec(line) ?? [];
      return value === undefined ? [] : [[labels, Number(value)] as const];
    });
    return Object.fromEntries(samples);
  };
  return { ...server, readMetric, lines };
}

const NOW = Date.now();
/** Returns a time after the server started. */
const getTimeAfterStart = () => Date.now() + 1;

describe('GET /metrics', () => {
  it('is in the Prometheus text format', async () => {
    const { get } = await openWithMetrics();
    const response = await get('/metrics');
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const text = await response.text();
    for (const line of text.trimEnd().split('\n')) {
      expect(line).toMatch(
        /^# (?:HELP|TYPE) sluice_\w+ .+$|^sluice_\w+(?:\{\w+="[^"]*"(?:,\w+="[^"]*")*\})? [\d.e+-]+$/,
      );
    }
  });

  it('has exactly the metrics that docs/metrics.md lists, with their types', async () => {
    const { get } = await openWithMetrics();
    const text = await (await get('/metrics')).text();
    const page = await readFile(new URL('../../../docs/metrics.md', import.meta.url), 'utf8');
    const rendered = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, type]) => `${name} ${type}`);
    const listed = [...page.matchAll(/^\| `(sluice_\w+)` \| (\w+) \|/gm)].map(([, name, type]) => `${name} ${type}`);
    expect(listed.toSorted()).toEqual(rendered.toSorted());
  });

  it('counts parses by outcome and repair level, and requests', async () => {
    const { post, readMetric } = await openWithMetrics();
    await post('/v1/parse', { text: '{}' });
    await post('/v1/parse', { text: '{"a": 1,}' });
    await post('/v1/parse', { text: 'no' });
    expect(await readMetric('sluice_parse_total')).toEqual({
      '{outcome="success",repair_level="none",code="none"}': 1,
      '{outcome="success",repair_level="deterministic_generic",code="none"}': 1,
      '{outcome="failed",repair_level="none",code="NO_JSON"}': 1,
    });
    expect(await readMetric('sluice_http_requests_total')).toMatchObject({ '{endpoint="parse",status="200"}': 3 });
    expect(await readMetric('sluice_http_request_seconds_count')).toMatchObject({ '{endpoint="parse"}': 3 });
  });

  it('counts runs by state, and ended runs by outcome, with their usage', async () => {
    const { store, readMetric } = await openWithMetrics();
    await store.createRun({ id: 'q', spec: sampleSpec(), state: 'queued', now: NOW });
    const running = { state: 'running', workerId: 'w', leaseMs: 1000, now: NOW } as const;
    for (const id of ['a', 'b', 'c']) await store.createRun({ id, spec: sampleSpec({ engine: 'codex' }), ...running });
    const usage = { scope: 'total', input_tokens: 10, output_tokens: 3, cost: 0.5 } as const;
    const error = { category: 'timeout', code: 'TIME_LIMIT', message: 'x' } as const;
    await store.endRun({ id: 'a', workerId: 'w', now: getTimeAfterStart(), result: createRunResult({ usage }) });
    await store.endRun({
      id: 'b',
      workerId: 'w',
      now: getTimeAfterStart(),
      result: createRunResult({ status: 'failed', error, usage }),
    });
    expect(await readMetric('sluice_runs')).toEqual({
      '{state="queued"}': 1,
      '{state="running"}': 1,
      '{state="waiting"}': 0,
    });
    const endedRun = {
      '{engine="codex",status="success",repair_level="none"}': 1,
      '{engine="codex",status="failed",repair_level="none"}': 1,
    };
    expect(await readMetric('sluice_runs_ended_total')).toEqual(endedRun);
    expect(await readMetric('sluice_runs_ended_total')).toEqual(endedRun);
    expect(await readMetric('sluice_run_failures_total')).toEqual({
      '{engine="codex",category="timeout",code="TIME_LIMIT"}': 1,
    });
    expect(await readMetric('sluice_usage_tokens_total')).toMatchObject({ '{engine="codex",kind="input"}': 20 });
    expect(await readMetric('sluice_usage_cost_dollars_total')).toEqual({ '{engine="codex"}': 1 });
  });

  it('counts each run and each decision on one of the servers that share a store', async () => {
    const { store, data } = await openServer();
    const servers = [createMetrics({ store, data }), createMetrics({ store, data })];
    for (let run = 0; run < 20; run += 1) {
      await store.createRun({
        id: `r${run}`,
        spec: sampleSpec(),
        state: 'running',
        workerId: 'w',
        leaseMs: 1000,
        now: NOW,
      });
      await store.endRun({ id: `r${run}`, workerId: 'w', now: getTimeAfterStart(), result: createRunResult() });
      const { record } = await store.submitOrder(sampleSubmission({ issue_ref: `local#${run}` }));
      const execution = sampleExecution(record, record.decision ?? sampleSettlement(record).active.decision, {
        at: new Date(getTimeAfterStart()).toISOString(),
      });
      await store.settleOrder(sampleSettlement(record, 'advance', { execution }, getTimeAfterStart()));
      // Both servers read the store concurrently.
      if (run % 3 === 0) await Promise.all(servers.map(async (server) => server.render()));
    }
    const outputs = await Promise.all(servers.map(async (server) => server.render()));
    const add = (name: string): number =>
      outputs
        .flatMap((text) => [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\d+)$`, 'gm'))])
        .reduce((sum, [, count]) => sum + Number(count), 0);
    // Each order has a run as well.
    expect(add('sluice_runs_ended_total')).toBe(40);
    expect(add('sluice_decisions_total')).toBe(20);
  });

  it('counts drift by engine version, and logs runs with a lot of drift', async () => {
    const { store, data, readMetric, lines } = await openWithMetrics();
    for (const [id, count] of [
      ['few', 2],
      ['many', 40],
    ] as const) {
      await mkdir(join(data, 'runs', id, '.audit'), { recursive: true });
      const summary = {
        summary: 'drift',
        run_id: id,
        attempt_number: 1,
        engine: 'codex',
        engine_version: '9.9.9',
        unknown_types: { 'thread.exploded': count },
        unknown_fields: { 'item.mood': 1 },
      };
      const text = `{"torn\n${JSON.stringify(summary)}\n`;
      await writeFile(join(data, 'runs', id, '.audit', 'parser_diagnostics.jsonl'), text);
      const running = { state: 'running', workerId: 'w', leaseMs: 1000, now: NOW } as const;
      await store.createRun({ id, spec: sampleSpec({ engine: 'codex' }), ...running });
      await store.endRun({ id, workerId: 'w', now: getTimeAfterStart(), result: createRunResult() });
    }
    expect(await readMetric('sluice_drift_total')).toEqual({
      '{engine="codex",engine_version="9.9.9",kind="type"}': 42,
      '{engine="codex",engine_version="9.9.9",kind="field"}': 2,
    });
    expect(await readMetric('sluice_drift_alerts_total')).toEqual({ '{engine="codex",engine_version="9.9.9"}': 1 });
    const rendered = lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ level }) => level === 'warn');
    expect(rendered).toMatchObject([{ run_id: 'many', engine_version: '9.9.9', unknown_types: ['thread.exploded'] }]);
  });

  it('counts the drift of a packed run, which has no logs', async () => {
    const { store, data, readMetric } = await openWithMetrics();
    const audit = join(data, 'runs', 'packed', '.audit');
    await mkdir(audit, { recursive: true });
    await writeFile(join(audit, 'meta.1.json'), '{"engine":"codex","exit_code":0}');
    await writeFile(join(audit, 'stdout.1.log'), '{"type":"thread.sings"}\n');
    const running = { state: 'running', workerId: 'w', leaseMs: 1000, now: NOW } as const;
    await store.createRun({ id: 'packed', spec: sampleSpec({ engine: 'codex' }), ...running });
    const result = createRunResult({ drift: { unknown_types: 1, unknown_fields: 0 } });
    await store.endRun({ id: 'packed', workerId: 'w', now: getTimeAfterStart(), result });
    await packRunFolder(data, 'packed');
    expect(await readMetric('sluice_drift_total')).toEqual({
      '{engine="codex",engine_version="unknown",kind="type"}': 1,
    });
  });

  it('counts decisions, reasons for asking a human, stale results, complete comments, and queues', async () => {
    const { store, readMetric } = await openWithMetrics();
    const at = new Date(getTimeAfterStart()).toISOString();
    const escalated = (await store.submitOrder(sampleSubmission())).record;
    const problems = [{ code: 'KEY_MISSING', message: 'x' }];
    const settlement = sampleSettlement(
      escalated,
      'needs-human',
      { item: sampleItem(escalated), outbox: [sampleMessage(escalated)] },
      NOW - 5000,
    );
    const { decision } = settlement.active;
    const execution = sampleExecution(escalated, decision, { at, problems, parse_status: 'incomplete' });
    await store.settleOrder({ ...settlement, active: { ...settlement.active, execution } });

    const stale = (await store.submitOrder(sampleSubmission({ issue_ref: 'local#2' }))).record;
    const active = (await store.submitOrder(sampleSubmission({ issue_ref: 'local#2' }))).record;
    for (const record of [stale, active]) {
      const { active: activeSettlement, stale: other, ...rest } = sampleSettlement(record, 'advance', { outbox: [] });
      await store.settleOrder({
        ...rest,
        active: { ...activeSettlement, execution: { ...activeSettlement.execution, at } },
        stale: { ...other, execution: { ...other.execution, at } },
      });
    }
    expect(await readMetric('sluice_decisions_total')).toEqual({
      '{action="needs-human",result_code="manual_intervention",by="rules"}': 1,
      '{action="archive",result_code="stale_run",by="rules"}': 1,
      '{action="advance",result_code="none",by="rules"}': 1,
    });
    expect(await readMetric('sluice_needs_human_total')).toEqual({ '{cause="KEY_MISSING"}': 1 });
    expect(await readMetric('sluice_stale_results_total')).toEqual({ '{worker_type="script"}': 1 });
    expect(await readMetric('sluice_comments_total')).toEqual({ '{complete="false"}': 1, '{complete="true"}': 1 });
    expect(await readMetric('sluice_inbox_items')).toEqual({ '': 1 });
    expect(await readMetric('sluice_outbox_messages')).toEqual({ '{state="open"}': 1, '{state="dead"}': 0 });
    expect((await readMetric('sluice_outbox_age_seconds'))['']).toBeGreaterThanOrEqual(5);
  });
});

describe('the event lag', () => {
  it('is the time from an event until it can be read', async () => {
    const { store, data } = await openWithMetrics();
    const happened = Date.parse('2026-11-15T06:00:00.000Z');
    const metrics = createMetrics({ store, data, clock: () => happened + 200 });
    await metrics.measureLag(store).append('r', [sampleFcmp(1)]);
    expect(await store.read({ runId: 'r', protocol: 'fcmp', limit: 9 })).toHaveLength(1);
    const text = await metrics.render();
    expect(text).toContain('sluice_event_lag_seconds_bucket{le="0.05"} 0');
    expect(text).toContain('sluice_event_lag_seconds_bucket{le="0.25"} 1');
  });
});
